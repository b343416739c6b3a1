"""tests/lib/lkevirtual.py - the Linode API in virtual time: limits, latency and machines that come late.

    world = World("standard", machines=100)     # machines: claimable ones that are there already
    world.start(task(world))                    # a task is a generator: it yields seconds to sleep
    world.run()
    world.now, world.calls                      # seconds, and calls by class

The figures are those of muster-sim: 200 lists and 1600 other calls in a window of a minute, which begins with
its first call; an instance id after 2 s; in Enterprise the tags of the pool after 4 s; 100 nodes of a pool.
"""
import collections
import heapq

LIMITS = {"lists": 200, "general": 1600}
WINDOW_S, LATENCY_S = 60, 0.1
ID_S, TAGS_S = 2, 4
POOL_MAX, PAGE = 100, 100
LISTS = ("pools", "instances")
GIVE_UP_S = 48 * 3600
# linodego's: the wait of Retry-After, clamped; a stuck caller waits for long.
RETRY_LEAST_S, RETRY_MOST_S = 3, 30


class Lock:
    """First come, first served. Yielded by a task that wants it."""

    def __init__(self):
        self.owner, self.waiting = False, collections.deque()


class Machine:
    def __init__(self, number, since):
        self.id, self.since, self.claim = number, since, None


class World:
    def __init__(self, tier, machines=0):
        self.tier, self.now, self.calls = tier, 0.0, collections.Counter()
        self.count, self.machines = None, []        # None: there is no pool
        self.windows = {bucket: [-WINDOW_S, 0] for bucket in LIMITS}
        self.due, self.order = [], 0
        if machines:
            self.scale(machines)
            for machine in self.machines:
                machine.since = -3600.0

    # -- time

    def start(self, task, after=0.0):
        self.order += 1
        heapq.heappush(self.due, (self.now + after, self.order, task))

    def run(self):
        """Until nothing is due any more."""
        while self.due:
            self.now, _, task = heapq.heappop(self.due)
            if self.now > GIVE_UP_S:
                raise AssertionError(f"it is not over after {GIVE_UP_S} s of virtual time")
            try:
                wanted = next(task)
            except StopIteration:
                continue
            if not isinstance(wanted, Lock):
                self.start(task, wanted)
            elif wanted.owner:
                wanted.waiting.append(task)
            else:
                wanted.owner = True
                self.start(task)

    def unlock(self, lock):
        if lock.waiting:
            self.start(lock.waiting.popleft())
        else:
            lock.owner = False

    # -- calls

    def call(self, name, pages=1):
        """`yield from` it: one call, or one for each page, with linodego's retries."""
        for _ in range(pages):
            while True:
                self.calls[name] += 1
                yield LATENCY_S
                wait_s = self.refused("lists" if name in LISTS else "general")
                if wait_s is None:
                    break
                self.calls["refused"] += 1
                yield min(max(wait_s, RETRY_LEAST_S), RETRY_MOST_S)

    def refused(self, bucket):
        """Seconds of Retry-After; None: the call is within the limit."""
        window = self.windows[bucket]
        if self.now - window[0] >= WINDOW_S:
            window[:] = [self.now, 0]
        if window[1] >= LIMITS[bucket]:
            return window[0] + WINDOW_S - self.now
        window[1] += 1
        return None

    def total(self):
        return sum(number for name, number in self.calls.items() if name != "refused")

    # -- the pool

    def scale(self, count):
        """False: more than a pool may have."""
        if count > POOL_MAX:
            return False
        self.count = count
        while len(self.machines) < count:
            self.machines.append(Machine(1000 + len(self.machines), self.now))
        return True

    def shown(self):
        """Machines that belong to the pool as the tier shows it."""
        lag_s = ID_S if self.tier == "standard" else TAGS_S
        return [machine for machine in self.machines if self.now - machine.since >= lag_s]

    def owners(self):
        return {machine.id: machine.claim for machine in self.machines if machine.claim is not None}
