"""Answers rows of hints and a disk as Ironic's or the agent's own code does: [satisfied, exception's name, its words]."""
import json
import sys

import pyparsing

if sys.argv[1] == 'ironic':
    from ironic.common import utils as code
else:
    from ironic_python_agent import device_hints as code


def answer(hints, disk):
    try:
        return [next(code.find_devices_by_hints([disk], hints), None) is not None, None, None]
    except pyparsing.ParseException:
        return [None, 'ParseException', None]
    except Exception as error:
        return [None, type(error).__name__, str(error)]


json.dump([answer(row['hints'], row['disk']) for row in json.load(sys.stdin)], sys.stdout)
