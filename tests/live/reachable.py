"""reachable - an ordinary user can run what was built, wherever the project lies.

Tests run by root become an ordinary user for some recordings, which cannot look into a folder
below /root.  What is run is then copied to where everybody can.
"""

import atexit
import glob
import os
import shutil
import tempfile


def is_reachable(path):
    """Whether everybody may pass through each folder above path."""
    folder = os.path.dirname(os.path.abspath(path))
    while folder != "/":
        if not os.stat(folder).st_mode & 0o001:
            return False
        folder = os.path.dirname(folder)
    return True


def make_reachable(fathom, workloads, agents):
    """The three paths as they are, or those of copies that are removed at the end."""
    paths = [path for path in (fathom, workloads, agents) if os.path.isabs(path) and os.path.exists(path)]
    if os.geteuid() != 0 or len(paths) < 3 or all(map(is_reachable, paths)):
        return fathom, workloads, agents
    folder = tempfile.mkdtemp(prefix="fathom-build-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    copies = (shutil.copy(fathom, folder), os.path.join(folder, "workloads"), os.path.join(folder, "agents"))
    shutil.copytree(workloads, copies[1], ignore=shutil.ignore_patterns("*.p"))
    os.mkdir(copies[2])
    for agent in glob.glob(os.path.join(agents, "*.so")):
        shutil.copy(agent, copies[2])
    # Meson names the build's folders; fathom and the programs that it runs look there first.
    os.environ["FATHOM_AGENT"] = copies[2]
    os.environ["LD_LIBRARY_PATH"] = copies[1]
    return copies
