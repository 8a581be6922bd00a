"""python-ironicclient's `baremetal`, one fork of this process for each command: importing it takes longer than most of what it does.

Reads a JSON line {id, argv, env} for each command and answers {id, code, stdout, stderr} as each of them ends.
"""

import fcntl
import json
import os
import signal
import sys
import tempfile
import traceback

from ironicclient import shell
from ironicclient.v1 import utils

# What commands would import when they run.
from ironicclient.osc.v1 import baremetal_allocation, baremetal_chassis, baremetal_conductor  # noqa: F401
from ironicclient.osc.v1 import baremetal_create, baremetal_deploy_template, baremetal_driver  # noqa: F401
from ironicclient.osc.v1 import baremetal_inspection_rule, baremetal_node, baremetal_port  # noqa: F401
from ironicclient.osc.v1 import baremetal_portgroup, baremetal_runbook, baremetal_shard  # noqa: F401
from ironicclient.osc.v1 import baremetal_volume_connector, baremetal_volume_target  # noqa: F401

# `--wait` looks every two or ten seconds, as machines take minutes; these take none.
for action in utils.PROVISION_ACTIONS.values():
    if action:
        action["poll_interval"] = 0.1

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
answers = os.dup(1)
turn = tempfile.TemporaryFile()


def run(argv):
    sys.argv = ["baremetal", *argv]
    try:
        return shell.main(argv)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1


def answer(command):
    os.environ.update(command["env"])
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        code = run(command["argv"])
        sys.stdout.flush()
        sys.stderr.flush()
        out.seek(0)
        err.seek(0)
        said = {"id": command["id"], "code": code, "stdout": out.read().decode(), "stderr": err.read().decode()}
    line = (json.dumps(said) + "\n").encode()
    # Longer lines than a pipe takes at once must not mix.
    fcntl.lockf(turn, fcntl.LOCK_EX)
    while line:
        line = line[os.write(answers, line) :]


for line in sys.stdin:
    if os.fork() == 0:
        # Commands that ask for what they were not given must not read the next command.
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        answer(json.loads(line))
        os._exit(0)
