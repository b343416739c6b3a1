"""tests/lib/demoview.py - the live view of ./dev demo: redrawn on a terminal, plain lines elsewhere."""
import collections
import shutil
import sys
import time

from openshift import condition

BAR, EVERY_S, EVENTS_SHOWN = 24, 2.0, 5
ORDER = ("Completed", "Rebooting", "Updating", "Draining", "Paused", "Pending")
COLORS = {"Completed": 32, "Progressing": 36, "Degraded": 31, "Excluded": 33, "Pending": 0}


class View:
    def __init__(self):
        self.terminal = sys.stdout.isatty()
        self.drawn, self.next_s = 0, 0.0
        self.events = collections.deque(maxlen=EVENTS_SHOWN)

    def report(self, text):
        """Shows one line about what has just happened."""
        if self.terminal:
            self.events.append(text)
        else:
            print(f"  -> {text}", flush=True)

    def rest(self, seconds):
        """Leaves time to read; a file needs less."""
        time.sleep(seconds if self.terminal else 0.5)

    def draw(self, fleet, last=False):
        if self.terminal:
            wide = shutil.get_terminal_size().columns - 1
            lines = [line[:wide] for line in self.screen_lines(fleet)]
            wipe = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
            print(wipe + "\n".join(map(self.colored, lines)), flush=True)
            self.drawn = len(lines)
        elif last or time.monotonic() >= self.next_s:
            self.next_s = time.monotonic() + EVERY_S
            states = [(name, item["status"]) for name, item in sorted(fleet.pools.items())]
            pools = "  ".join(f"{name} {status.get('completionPercent', 0)}% {status['assessment']}"
                              for name, status in states)
            print(f"{fleet.seconds():5.1f} s  {pools}  {fleet.rate:.0f} notifications/s", flush=True)

    def screen_lines(self, fleet):
        yield (f"{fleet.seconds():5.1f} s   {fleet.done()} of {len(fleet.nodes)} nodes updated   "
               f"{fleet.rate:.0f} notifications/s, {fleet.total} in all")
        yield ""
        for name, item in sorted(fleet.pools.items()):
            yield pool_line(name, item["status"], fleet.nodes)
        yield ""
        yield from under_way(fleet.nodes)
        yield ""
        yield from (f"  -> {text}" for text in self.events)

    def colored(self, line):
        """The assessment in its colour."""
        for word, number in COLORS.items():
            if f" {word:<12}" in line and "%" in line:
                return line.replace(f" {word:<12}", f" \x1b[{number}m{word:<12}\x1b[0m")
        return line


def pool_line(name, status, nodes):
    percent = status.get("completionPercent", 0)
    full = percent * BAR // 100
    mine = [item for item in nodes.values() if item["status"]["poolResource"]["name"] == name]
    counted = collections.Counter(condition(item, "Updating").get("reason", "?") for item in mine)
    phases = ", ".join(f"{counted[phase]} {phase.lower()}" for phase in ORDER if counted[phase])
    return f"  {name:<8}[{'#' * full}{'.' * (BAR - full)}] {percent:>3} % {status['assessment']:<12}{phases}"


def under_way(nodes, most=8):
    """One line for each node that updates or is degraded, and empty lines up to a fixed number."""
    rows = []
    for name, item in sorted(nodes.items()):
        status = item["status"]
        degraded = condition(item, "Degraded").get("status") == "True"
        if degraded or condition(item, "Updating").get("status") == "True":
            text = " ".join(status.get("message", "").split()) if degraded else ""
            rows.append(f"  {name:<12}{condition(item, 'Updating').get('reason', ''):<12}"
                        f"{status.get('estimatedToComplete', ''):<8}{'DEGRADED ' + text if degraded else ''}")
    return (rows + [""] * most)[:most]
