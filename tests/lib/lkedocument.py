"""tests/lib/lkedocument.py - two algorithms on the Linode API in virtual time (lkevirtual.py).

Document: the claim-or-scale loop of the design document, one task for each NodeClaim: its lists and GETs, its
lock for each pool key, its sleeps of 500 and 200 ms, its deadline of 10 s, one verification, linodego's
retries, and the requeues of Karpenter (1 s, doubled up to a minute). Where the document leaves room, what
costs fewer calls: a scan ends at the first claimable machine, tags are there at the first verification, and
NodeClaims that wait for more than five minutes are not deleted.

Planned: lke_plan of lke-claimer (bench/lke_plan.c), with the lists, intents and token buckets of the actor.
"""
import subprocess

import procs
from lkevirtual import LIMITS, PAGE, WINDOW_S, Lock, World

DEADLINE_S, PROVISIONING_S, SCALED_S = 10, 0.5, 0.2
REQUEUE_S, REQUEUE_MOST_S = 1, 60
WRITE_S = 0.02          # a write to the cluster, of lke-claimer
IN_FLIGHT = 16          # its calls at a time
BURST_S = 15            # of its token buckets: so many seconds' calls at once
NONE, READY, SENT, ENDED = range(4)     # enum lke_intent
CREATE = 0                              # enum lke_intent_kind


class Document:
    def __init__(self, tier, claims, machines=0):
        self.world, self.lock = World(tier, machines), Lock()
        for number in range(claims):
            self.world.start(self.launch(number))

    def launch(self, claim):
        backoff_s = REQUEUE_S
        while not (yield from self.create(claim)):
            yield backoff_s
            backoff_s = min(backoff_s * 2, REQUEUE_MOST_S)

    def create(self, claim):
        """True: it has its machine. False: the deadline has passed, or the pool could not be scaled."""
        world = self.world
        yield from world.call("instances")              # by the claim's tag
        deadline = world.now + DEADLINE_S
        while world.now < deadline:
            yield self.lock
            made = yield from self.find_or_create()
            claimable, provisioning = yield from self.find_claimable()
            if claimable is not None:
                yield from world.call("tag-instance")
                claimable.claim = claim
                yield from world.call("instance")       # the verification
                world.unlock(self.lock)
                return True
            scaled = True
            if not provisioning and not made:
                yield from world.call("scale-pool")
                scaled = world.scale(world.count + 1)
            world.unlock(self.lock)
            if not scaled:
                return False
            yield PROVISIONING_S if provisioning else SCALED_S
        return False

    def find_or_create(self):
        yield from self.world.call("pools")
        if self.world.count is not None:
            return False
        yield from self.world.call("create-pool")
        self.world.scale(1)
        return True

    def find_claimable(self):
        """(a machine or None, whether ids of others are missing)"""
        world = self.world
        if world.tier == "enterprise":
            yield from world.call("instances", pages=max(1, -(-len(world.shown()) // PAGE)))
            return next((m for m in world.shown() if m.claim is None), None), False
        yield from world.call("pool")
        for machine in world.shown():
            yield from world.call("instance")
            if machine.claim is None:
                return machine, False
        return None, len(world.shown()) < len(world.machines)


class Planned:
    """program: bench-lke_plan"""

    def __init__(self, program, tier, claims, machines=0):
        self.world, self.done = World(tier, machines), 0
        self.reserved, self.tagged = [0] * claims, [0] * claims
        self.intent, self.intended, self.count, self.mutating = NONE, (0, 0), None, False
        self.begun, self.waits, self.seen, self.calling = 0.0, 0.0, [], 0
        self.tokens = {bucket: [limit / WINDOW_S * BURST_S, 0.0] for bucket, limit in LIMITS.items()}
        self.filter = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       preexec_fn=procs.die_with_parent)
        self.world.start(self.act())

    def run(self):
        with self.filter:
            self.world.run()
            self.filter.stdin.close()

    def call(self, name, bucket="general"):
        """One call, when its bucket has a token and a connection is free."""
        rate, tokens, world = LIMITS[bucket] / WINDOW_S, self.tokens[bucket], self.world
        while True:
            tokens[0] = min(rate * BURST_S, tokens[0] + rate * (world.now - tokens[1]))
            tokens[1] = world.now
            if tokens[0] >= 1 and self.calling < IN_FLIGHT:
                break
            yield 0.01
        tokens[0] -= 1
        self.calling += 1
        yield from world.call(name)
        self.calling -= 1

    def list(self):
        began, before = self.world.now, (len(self.seen), self.count)
        yield from self.call("pools", "lists")
        yield from self.call("instances", "lists")
        self.seen, self.count, self.begun = self.world.shown(), self.world.count, began
        if (len(self.seen), self.count) != before:
            self.waits = self.world.now

    def plan(self):
        """(verb, when, kind, count, machine of each claim)"""
        ms = lambda seconds: round(seconds * 1000)
        words = [0 if self.world.tier == "standard" else 1, ms(self.world.now), ms(self.begun),
                 self.count is not None, self.count or 0, ms(self.waits), self.mutating, self.intent,
                 *self.intended, len(self.reserved), len(self.seen)]
        for pair in zip(self.reserved, self.tagged):
            words += pair
        for machine in self.seen:
            words += [machine.id, machine.id in self.tagged]
        print(*map(int, words), file=self.filter.stdin, flush=True)
        verb, rest = self.filter.stdout.readline().split("\t")
        when, kind, count, *assigned = map(int, rest.split())
        return verb, when / 1000, kind, count, assigned

    def act(self):
        yield from self.call("cluster")
        yield WRITE_S                                   # the finalizers
        yield from self.list()
        while self.done < len(self.reserved):
            verb, when, kind, count, assigned = self.plan()
            for claim, machine in enumerate(assigned):
                if machine and not self.reserved[claim]:
                    self.reserved[claim] = machine
                    self.world.start(self.tag(claim, machine))
            if verb == "list":
                yield max(when - self.world.now, 0)
                yield from self.list()
            elif verb == "intend":
                yield WRITE_S
                self.intent, self.intended = READY, (kind, count)
            elif verb == "forget intent":
                yield WRITE_S
                self.intent = NONE
            elif verb in ("create pool", "scale pool"):
                self.intent = SENT
                yield from self.call(verb.replace(" ", "-"))
                assert self.world.scale(count)
                self.count, self.intent, self.waits = count, ENDED, self.world.now
            else:
                yield 0.02
        assert len(self.world.owners()) == len(self.reserved), self.world.owners()

    def tag(self, claim, machine):
        yield WRITE_S                                   # the reservation
        yield from self.call("tag-instance")
        next(m for m in self.world.machines if m.id == machine).claim = claim
        self.tagged[claim] = machine
        yield WRITE_S                                   # the status
        self.done += 1
