"""tests/lib/demoview.py - the live view of ./dev demo: rows in place on a terminal, lines elsewhere."""
import collections
import shutil
import sys
import time

EVERY_S, EVENTS_SHOWN = 2.0, 5


class View:
    """colors: {text: number}; the first of these texts that a row has gets that ANSI colour."""

    def __init__(self, colors=None):
        self.terminal = sys.stdout.isatty()
        self.colors = dict(colors or {})
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

    def headline(self, text):
        self.drawn = 0          # what was drawn before stays as it is
        print(f"\n== {text}", flush=True)

    def draw(self, rows, line, last=False):
        """rows: for a terminal; line: the same in short for a file, every two seconds and the last time."""
        if self.terminal:
            wide = shutil.get_terminal_size().columns - 1
            shown = [row[:wide] for row in (*rows, "", *(f"  -> {text}" for text in self.events))]
            wipe = f"\x1b[{self.drawn}A\x1b[J" if self.drawn else ""
            print(wipe + "\n".join(map(self.colored, shown)), flush=True)
            self.drawn = len(shown)
        elif last or time.monotonic() >= self.next_s:
            self.next_s = time.monotonic() + EVERY_S
            print(line, flush=True)

    def colored(self, row):
        for text, number in self.colors.items():
            if text in row:
                return row.replace(text, f"\x1b[{number}m{text}\x1b[0m")
        return row


def bar(part, whole, width=24):
    """[####....]"""
    full = part * width // max(whole, 1)
    return f"[{'#' * full}{'.' * (width - full)}]"
