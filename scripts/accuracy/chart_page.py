"""A picture as a gnuplot script: used by accuracy_charts.py."""
import subprocess
import sys

INK, SOFT, LINES = "#222222", "#666666", "#e4e4e4"
BLUE, ORANGE, GREEN = "#4477aa", "#cc5533", "#228833"


def time_text(us):
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if us >= unit:
            return f"{us / unit:.3g} {name}"
    return f"{us:.3g} us"


def quoted(text):
    """A string of gnuplot's, where what has a meaning stands by its number."""
    number = {'"': r"\0042", "'": r"\0047", "@": r"\100", "\\": r"\134", "`": r"\140"}
    return '"' + "".join(number.get(c, c) for c in " ".join(text.split())) + '"'


class Page:
    """A gnuplot script; positions are pixels from the top left."""

    def __init__(self, png, width, height):
        self.png, self.width, self.height = png, width, height
        # Points of the PNG terminal are 4/3 of a pixel.
        self.font = "Sans" if png else "sans-serif"
        terminal = ("pngcairo noenhanced" if png
                    else "svg noenhanced background '#ffffff'")
        self.lines = [
            f"set terminal {terminal} size {width},{height} "
            f"font '{self.font},{self.points(12)}'",
            "set encoding utf8", "set datafile missing 'NaN'", "unset key",
            f"set border 3 lc rgb '{SOFT}'",
            f"set tics nomirror out scale 0.5 tc rgb '{INK}'",
            f"set grid lc rgb '{LINES}' lt 1", "set multiplot"]

    def points(self, pixels):
        return pixels * 3 // 4 if self.png else pixels

    def put(self, *lines):
        self.lines += lines

    def text(self, x, y, text, size=12, color=INK, align="left"):
        self.put(f"set label {quoted(text)} at screen {x / self.width:.5f}, "
                 f"screen {1 - y / self.height:.5f} {align} font "
                 f"'{self.font},{self.points(size)}' tc rgb '{color}' front")

    def panel(self, left, top, right, bottom):
        self.put(f"set lmargin at screen {left / self.width:.5f}",
                 f"set rmargin at screen {right / self.width:.5f}",
                 f"set tmargin at screen {1 - top / self.height:.5f}",
                 f"set bmargin at screen {1 - bottom / self.height:.5f}")

    def data(self, name, rows):
        self.put(f"${name} << END_OF_DATA",
                 *(" ".join(f"{v:.6g}" if isinstance(v, float) else str(v)
                            for v in row) for row in rows), "END_OF_DATA")

    def plot(self, text):
        self.put("plot " + text, "unset label", "unset object", "unset arrow")

    def small(self, text, at, color=SOFT):
        """Small words at a place of the panel."""
        self.put(f"set label {quoted(text)} at {at} tc rgb '{color}' font "
                 f"'{self.font},{self.points(11)}'")

    def draw(self, path):
        draft = path.with_name(path.name + ".part")
        script = "\n".join([*self.lines[:1], f"set output {quoted(str(draft))}",
                            *self.lines[1:], "unset multiplot",
                            "unset output", ""])
        try:
            done = subprocess.run(["gnuplot"], input=script, text=True,
                                  capture_output=True, check=False)
        except FileNotFoundError:
            sys.exit("accuracy_charts.py: no gnuplot: install gnuplot-nox")
        if done.returncode or not draft.exists():
            sys.exit(f"accuracy_charts.py: gnuplot: {done.stderr.strip()}")
        if not self.png:  # gnuplot ends some lines in blanks
            lines = draft.read_text(encoding="utf-8").splitlines()
            draft.write_text("".join(line.rstrip() + "\n" for line in lines),
                             encoding="utf-8")
        draft.rename(path)
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
