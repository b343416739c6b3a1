"""tests/lib/rolloutsuite.py - cases about node-state and insight, on whichever API server a program brings.

As kubesuite, which runs them: each begins without a Node, a pool, a config, an insight of the one before.
"""
import functools

import kubesuite
import rolloutcrds
import rolloutworld


def case(function):
    @functools.wraps(function)
    def swept(server):
        rolloutworld.sweep(server)
        server.forget_audit()
        function(server)
    return kubesuite.case(swept)


def run(make, prepare=rolloutcrds.install):
    kubesuite.run(make, prepare=prepare)
