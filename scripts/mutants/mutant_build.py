"""A build folder in which one source after the other changes.

Its libraries are shared ones (preset `mutants`), so a change is one file to compile and
one library to link, by the commands that CMake wrote down. To ask make for the targets
instead takes longer than most tests, as it looks at each of them."""
import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def succeeds(*command, at=ROOT):
    return subprocess.run(command, cwd=at, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False,
                          env=dict(os.environ, CCACHE_DISABLE="1")).returncode == 0


class Build:
    def __init__(self, folder):
        self.folder = folder
        self.compiles = collections.defaultdict(list)
        self.links = collections.defaultdict(set)
        self.is_remade = False  # by make, of a file that was changed then
        self.to_link = set()  # what holds objects that were put back
        self.held = {}  # by path: what a changed source and its objects were

    def make(self):
        """Configure, and build everything: whether that goes."""
        traces = os.environ.get("MSIM_TRACES", "")
        traces = os.path.realpath(traces) if traces else ""
        subprocess.run(["cmake", "--preset", "mutants", "-B", self.folder,
                        f"-DMSIM_TRACES={traces}"], cwd=ROOT, check=True,
                       stdout=subprocess.DEVNULL)
        made = subprocess.run(["cmake", "--build", self.folder, "--parallel",
                               str(os.cpu_count())], cwd=ROOT, check=False,
                              stdout=subprocess.DEVNULL).returncode == 0
        self.read_commands()
        return made

    def read_commands(self):
        """compiles: by source, commands, where they are run, the object that each makes;
        links: by object, the files of the commands that link it. A function that nothing
        calls any more is a warning that no test sees, and no error."""
        rows = json.loads((self.folder / "compile_commands.json").read_text())
        for row in rows:
            at = pathlib.Path(row["directory"])
            made = at / re.search(r" -o (\S+\.o)\b", row["command"])[1]
            self.compiles[row["file"]].append(
                (row["command"].replace(" -Werror", ""), at, made))
        for link in self.folder.rglob("link.txt"):
            at = link.parents[2]  # DIR/CMakeFiles/TARGET.dir/link.txt
            for name in re.findall(r'(?<=[ "])[^\s"]+\.o\b', link.read_text()):
                self.links[at / name].add(link)

    def link(self, links):
        return all([succeeds("sh", "-e", link, at=link.parents[2]) for link in links])

    def take(self, file):
        """Build with what a file has become: whether that goes. A script needs nothing,
        unless a program has it within; a header, everything. A source that nothing is
        compiled of here (it stands in for a library that there is) does not build."""
        commands = self.compiles.get(str(ROOT / file), [])
        for command, at, made in commands:
            if not succeeds("sh", "-c", command, at=at):
                return False
            self.to_link |= self.links[made]
        if commands:
            return self.link(self.to_link)
        path = pathlib.PurePath(file)
        if path.suffix == ".c":
            return False
        is_within = (self.folder / f"{path.name.split('.')[0]}_template.c").exists()
        is_script = path.suffix in (".sh", ".bash", ".py")
        return is_script and not is_within or self.remake()

    def remake(self):
        self.is_remade = True
        return succeeds("cmake", "--build", self.folder, "--parallel",
                        str(os.cpu_count()))

    def make_again(self):
        if self.is_remade:
            self.remake()
            self.is_remade = False

    def is_same(self, file):
        """Whether the compiler makes the same of a changed source: no test can tell."""
        objects = [made for *_, made in self.compiles.get(str(ROOT / file), [])]
        return bool(objects) and all(made.read_bytes() == self.held[made]
                                     for made in objects)

    def restore(self):
        """Programs as without a change."""
        self.make_again()
        self.link(self.to_link)
        self.to_link.clear()

    @contextlib.contextmanager
    def changed(self, file, text):
        """A file is `text` for a while. Its objects come back with it, newer than it is,
        so that nothing is compiled again; restore() links them. What was made of a file
        without objects, a header or a table, is made again before they are held."""
        path, time_ns = ROOT / file, (ROOT / file).stat().st_mtime_ns
        objects = [made for *_, made in self.compiles.get(str(path), [])]
        if objects:
            self.make_again()
        self.held = {at: at.read_bytes() for at in [path, *objects]}
        try:
            path.write_text(text, encoding="utf-8")
            yield
        finally:
            for at, content in self.held.items():
                at.write_bytes(content)
            if objects:
                os.utime(path, ns=(time_ns, time_ns))
