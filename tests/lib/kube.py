"""tests/lib/kube.py - a small Kubernetes client for tests: the standard library, JSON, no cache, no retries.

    kube = Kube("https://127.0.0.1:6443", token="admin", ca="/tmp/x/apiserver.crt")
    kube.create("nodes", {"metadata": {"name": "n1"}})
    kube.merge("nodes", "n1", {"metadata": {"labels": {"a": "b"}}})
    for event in kube.watch("nodes", rv="17", seconds=10): ...

An answer of 400 and more is a KubeError with the Status of the server in it.
"""
import concurrent.futures
import dataclasses
import http.client
import json
import ssl
import urllib.parse

MERGE, JSON, STRATEGIC, APPLY = (f"application/{kind}" for kind in (
    "merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"))
METADATA_ONLY = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_ONLY_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
TEST_GROUP = "test.muster.dev"
RBAC = "apis/rbac.authorization.k8s.io/v1"


@dataclasses.dataclass(frozen=True)
class Resource:
    """The path of a resource: api/v1 or apis/GROUP/VERSION, and whether in namespaces."""
    base: str
    kind: str
    namespaced: bool = True

    def api_version(self):
        return self.base.split("/", 1)[1]


# The key is the plural; a suffix after a dot is the version. Tests with other kinds add rows.
RESOURCES = {
    "nodes": Resource("api/v1", "Node", namespaced=False),
    "namespaces": Resource("api/v1", "Namespace", namespaced=False),
    "pods": Resource("api/v1", "Pod"),
    "secrets": Resource("api/v1", "Secret"),
    "serviceaccounts": Resource("api/v1", "ServiceAccount"),
    "leases": Resource("apis/coordination.k8s.io/v1", "Lease"),
    "events": Resource("apis/events.k8s.io/v1", "Event"),
    "clusterroles": Resource(RBAC, "ClusterRole", namespaced=False),
    "clusterrolebindings": Resource(RBAC, "ClusterRoleBinding", namespaced=False),
    "roles": Resource(RBAC, "Role"),
    "rolebindings": Resource(RBAC, "RoleBinding"),
    "poddisruptionbudgets": Resource("apis/policy/v1", "PodDisruptionBudget"),
    "customresourcedefinitions": Resource("apis/apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                          namespaced=False),
    "widgets": Resource(f"apis/{TEST_GROUP}/v1", "Widget"),
    "widgets.v1beta1": Resource(f"apis/{TEST_GROUP}/v1beta1", "Widget"),
}


class KubeError(Exception):
    """A refusal. reason and causes are for programs, the text is for people."""

    def __init__(self, code, status):
        self.code, self.status = code, status if isinstance(status, dict) else {}
        self.reason = self.status.get("reason", "")
        self.message = self.status.get("message", "") or str(status)
        self.causes = (self.status.get("details") or {}).get("causes") or []
        super().__init__(f"{code} {self.reason}: {self.message}")


@dataclasses.dataclass
class Answer:
    code: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Kube:
    """One server, one identity. Every call has a connection of its own, so that many threads may call."""

    def __init__(self, url, token=None, ca=None, user_agent="kube-test", timeout=60):
        self.url, self.token, self.user_agent, self.timeout = url, token, user_agent, timeout
        self.target = urllib.parse.urlsplit(url)
        self.tls = ssl.create_default_context(cafile=ca) if self.target.scheme == "https" else None

    def as_user(self, token, user_agent=None):
        """A client of the same server with another identity."""
        twin = Kube.__new__(Kube)
        twin.__dict__.update(self.__dict__, token=token, user_agent=user_agent or self.user_agent)
        return twin

    # -- the request itself

    def connect(self, timeout=None):
        host, port = self.target.hostname, self.target.port
        if self.tls:
            return http.client.HTTPSConnection(host, port, timeout=timeout or self.timeout, context=self.tls)
        return http.client.HTTPConnection(host, port, timeout=timeout or self.timeout)

    def send(self, connection, method, path, body=None, query=None, accept=None, content=None):
        headers = {"Accept": accept or "application/json", "User-Agent": self.user_agent}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            headers["Content-Type"] = content or "application/json"
            body = (body if isinstance(body, str) else json.dumps(body)).encode()
        wanted = {key: value for key, value in (query or {}).items() if value is not None}
        target = f"/{path.lstrip('/')}" + (f"?{urllib.parse.urlencode(wanted)}" if wanted else "")
        connection.request(method, target, body=body, headers=headers)
        return connection.getresponse()

    def raw(self, method, path, **more):
        """Any request; the Answer as it is, whatever its code."""
        connection = self.connect()
        try:
            response = self.send(connection, method, path, **more)
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def call(self, method, path, **more):
        answer = self.raw(method, path, **more)
        if answer.code >= 400:
            raise KubeError(answer.code, _document(answer.body))
        return _document(answer.body)

    def bulk(self, requests, workers=8):
        """Many requests ({"method", "path", ...}) over a few connections that stay open. The first refusal is
        raised. Returns the documents, in order."""
        requests = list(enumerate(requests))
        documents = [None] * len(requests)

        def work(mine):
            connection = self.connect()
            try:
                for number, request in mine:
                    response = self.send(connection, **request)
                    documents[number] = _document(response.read())
                    if response.status >= 400:
                        raise KubeError(response.status, documents[number])
            finally:
                connection.close()
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            jobs = [pool.submit(work, requests[start::workers]) for start in range(workers)]
        for job in jobs:
            job.result()
        return documents

    # -- objects

    def path(self, resource, name=None, namespace=None, sub=None, everywhere=False):
        """everywhere: the collection over all namespaces."""
        row = RESOURCES[resource]
        words = [row.base]
        if row.namespaced and not everywhere:
            words += ["namespaces", namespace or "default"]
        words += [resource.split(".")[0], *(word for word in (name, sub) if word)]
        return "/".join(words)

    def get(self, resource, name, namespace=None, sub=None, accept=None, **query):
        return self.call("GET", self.path(resource, name, namespace, sub), query=query, accept=accept)

    def find(self, resource, name, namespace=None):
        """The object, or None when there is none."""
        try:
            return self.get(resource, name, namespace)
        except KubeError as error:
            if error.code == 404:
                return None
            raise

    def list(self, resource, namespace=None, accept=None, **query):
        """The whole List. Without a namespace: over all of them."""
        path = self.path(resource, namespace=namespace, everywhere=namespace is None)
        return self.call("GET", path, query=query, accept=accept)

    def names(self, resource, namespace=None, **query):
        return sorted(item["metadata"]["name"] for item in self.list(resource, namespace, **query)["items"])

    def create(self, resource, body, namespace=None, name=None, sub=None, **query):
        """apiVersion and kind may be left out. name and sub: a POST below an object, as for an eviction."""
        if sub is None:
            body = typed(resource, body)
            namespace = namespace or body["metadata"].get("namespace")
        return self.call("POST", self.path(resource, name, namespace, sub), body=body, query=query)

    def create_many(self, resource, bodies, namespace=None):
        path = self.path(resource, namespace=namespace)
        return self.bulk({"method": "POST", "path": path, "body": typed(resource, body)} for body in bodies)

    def merge_many(self, resource, names, body, namespace=None):
        return self.bulk({"method": "PATCH", "path": self.path(resource, name, namespace), "body": body,
                          "content": MERGE} for name in names)

    def delete_many(self, resource, names, namespace=None):
        return self.bulk({"method": "DELETE", "path": self.path(resource, name, namespace)} for name in names)

    def replace(self, resource, body, namespace=None, sub=None, **query):
        body = typed(resource, body)
        meta = body["metadata"]
        path = self.path(resource, meta["name"], namespace or meta.get("namespace"), sub)
        return self.call("PUT", path, body=body, query=query)

    def patch(self, kind, resource, name, body, namespace=None, sub=None, **query):
        path = self.path(resource, name, namespace, sub)
        return self.call("PATCH", path, body=body, query=query, content=kind)

    def merge(self, resource, name, body, namespace=None, sub=None, **query):
        return self.patch(MERGE, resource, name, body, namespace, sub, **query)

    def apply(self, resource, name, body, manager, namespace=None, sub=None, force=False):
        body = typed(resource, body)
        return self.patch(APPLY, resource, name, body, namespace, sub, fieldManager=manager,
                          force="true" if force else "false")

    def delete(self, resource, name, namespace=None, uid=None, rv=None, **options):
        preconditions = {key: value for key, value in (("uid", uid), ("resourceVersion", rv)) if value}
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options}
        if preconditions:
            body["preconditions"] = preconditions
        return self.call("DELETE", self.path(resource, name, namespace), body=body)

    def delete_all(self, resource, namespace=None, **query):
        """A collection. Over all namespaces the server offers none for namespaced resources."""
        return self.call("DELETE", self.path(resource, namespace=namespace), query=query)

    def watch(self, resource, rv=None, namespace=None, seconds=60, accept=None, **query):
        """Yields events ({"type", "object"}) until the server ends the watch; a refusal is a KubeError.
        Nothing at all for seconds + 10 is a TimeoutError."""
        query = {"watch": "true", "resourceVersion": rv, "timeoutSeconds": str(seconds), **query}
        path = self.path(resource, namespace=namespace, everywhere=namespace is None)
        connection = self.connect(timeout=seconds + 10)
        try:
            response = self.send(connection, "GET", path, query=query, accept=accept)
            if response.status >= 400:
                raise KubeError(response.status, _document(response.read()))
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def watch_list(self, resource, namespace=None, seconds=60, **query):
        """A watch that begins with the whole set, ended by a bookmark."""
        return self.watch(resource, namespace=namespace, seconds=seconds, sendInitialEvents="true",
                          resourceVersionMatch="NotOlderThan", allowWatchBookmarks="true", **query)


def typed(resource, body):
    row = RESOURCES[resource]
    return {"apiVersion": row.api_version(), "kind": row.kind, **body}


def is_initial_end(event):
    notes = event["object"]["metadata"].get("annotations") or {}
    return event["type"] == "BOOKMARK" and notes.get("k8s.io/initial-events-end") == "true"


def rv(thing):
    """The resource version of an object or a list, as a number."""
    return int(thing["metadata"]["resourceVersion"])


def _document(body):
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")
