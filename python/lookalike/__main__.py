"""``python -m lookalike``: runs the command that is in the same wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig


def command() -> str:
    """The path of the command ``lookalike`` that was installed with this package."""
    name = "lookalike" + (".exe" if sys.platform == "win32" else "")
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
        # pip install --target FOLDER
        os.path.join(os.path.dirname(package), "bin"),
        os.path.dirname(sys.executable),
    ]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(
        f"the command {name} is in none of the folders of scripts: {', '.join(folders)}"
    )


def main() -> int:
    """Runs the command with the arguments of this process."""
    arguments = [command(), *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(arguments[0], arguments)  # signals and the exit code are those of the command
    return subprocess.call(arguments)


if __name__ == "__main__":
    sys.exit(main())
