"""tests/lib/rolloutwatch.py - everything that was ever stored in the insights of a server.

    with Watched(server) as watched:
        ...
        watched.statuses("worker-1")        # every status of it, oldest first, each once
"""
import threading
import time

from rolloutcrds import NODE_INSIGHTS


class Watched:
    def __init__(self, server, resource=NODE_INSIGHTS):
        self.server, self.resource = server, resource
        self.events, self.trouble = [], None
        self.over = threading.Event()

    def __enter__(self):
        version = self.server.kube.list(self.resource)["metadata"]["resourceVersion"]
        self.thread = threading.Thread(target=self.follow, args=(version,), daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()

    def follow(self, version):
        """A watch that ends is begun again where it ended."""
        while not self.over.is_set():
            try:
                for event in self.server.kube.watch(self.resource, rv=version, seconds=600,
                                                    allowWatchBookmarks="true"):
                    if event["type"] == "ERROR":
                        self.trouble = event
                        return
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self.events.append(event)
                    if self.over.is_set():
                        return
            except OSError:
                time.sleep(0.1)

    def seen(self, name, version):
        """The object in that version has come."""
        metas = [event["object"]["metadata"] for event in list(self.events)]
        return any((meta["name"], meta["resourceVersion"]) == (name, version) for meta in metas)

    def deleted(self):
        gone = [event["object"] for event in list(self.events) if event["type"] == "DELETED"]
        return [item["metadata"]["name"] for item in gone]

    def statuses(self, name):
        found = []
        for event in list(self.events):
            meta, status = event["object"]["metadata"], event["object"].get("status")
            if meta["name"] == name and status and (not found or found[-1] != status):
                found.append(status)
        return found
