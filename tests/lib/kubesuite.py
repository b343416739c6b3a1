"""tests/lib/kubesuite.py - cases that run on whichever API server a test program brings.

    @case
    def something_holds(server): ...

    kubesuite.run(RealServer)

One server serves all cases of a program, one after the other; each begins with no object of the last one in
it. A case that would affect the others starts a server of its own.
"""
import contextlib
import time

import tap
from kube import KubeError
from muster import wait_for

_cases = []


def case(function):
    _cases.append(function)
    return function


def run(make, *more, prepare=lambda server: None):
    """make(): a server, not yet started. more: further cases of this program. prepare: once, at first."""
    try:
        server = make()
    except tap.Skip as why:
        print(f"1..0 # SKIP {str(why).splitlines()[0]}", flush=True)
        return
    with server:
        prepare(server)
        for function in [*_cases, *more]:
            tap.case(_bound(function, server))
        tap.main()


def _bound(function, server):
    def bound():
        sweep(server.kube)
        server.forget_audit()
        function(server)
    bound.__name__ = function.__name__
    return bound


def sweep(kube):
    """No widget, pod, node, lease nor event of an earlier case is left."""
    for resource in ("widgets", "pods"):
        with contextlib.suppress(KubeError):        # the kind may not be there
            for item in kube.list(resource)["items"]:
                remove(kube, resource, item["metadata"])
    kube.delete_all("nodes")
    kube.delete_all("events", "default")
    kube.delete_all("leases", "default")


def remove(kube, resource, meta):
    """Deletes an object without its finalizers and without a grace period."""
    if meta.get("finalizers"):
        kube.merge(resource, meta["name"], {"metadata": {"finalizers": None}}, meta.get("namespace"))
    with contextlib.suppress(KubeError):
        kube.delete(resource, meta["name"], meta.get("namespace"), gracePeriodSeconds=0)


def expect_error(code, reason, call, *arguments, **more):
    """The KubeError of a call that must be refused in just this way."""
    try:
        result = call(*arguments, **more)
    except KubeError as error:
        assert (error.code, error.reason) == (code, reason), f"wanted {code} {reason}, got {error}"
        return error
    raise AssertionError(f"wanted {code} {reason}, got {result}")


def wait_right(server, user, verb, resource, group="", allowed=True):
    """A server's authorizer has roles and bindings from watches of its own: what is written counts later."""
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {
        "user": user, "resourceAttributes": {"verb": verb, "group": group, "resource": resource}}}

    def reviewed():
        made = server.kube.call("POST", "apis/authorization.k8s.io/v1/subjectaccessreviews", body=review)
        return made["status"]["allowed"] == allowed
    wait_for(reviewed, f"{user} {'may' if allowed else 'may not'} {verb} {resource}")


def pause(seconds):
    """For what has to last: a stop of five seconds is not a condition that one could wait for."""
    time.sleep(seconds)
