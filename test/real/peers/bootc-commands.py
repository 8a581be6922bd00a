"""Answers what the real agent's execute_bootc_install does: the programs that it runs, the files that they see, its error."""
import json
import sys
import tempfile

from oslo_concurrency import processutils

# Registers the options that other modules read when they are imported.
from ironic_python_agent import config  # noqa: F401
from ironic_python_agent import disk_utils
from ironic_python_agent import errors
from ironic_python_agent.extensions import standby

DEVICE = '/dev/sda'
GIB = 1024 ** 3


def answer(row):
    ran = []

    def execute(*argv, **options):
        seen = list(argv)
        for index, word in enumerate(seen):
            for option in ('--authfile=', '--root-ssh-authorized-keys='):
                if word.startswith(option):
                    with open(word[len(option):]) as file:
                        ran.append(['file', option, file.read()])
                    seen[index] = option + 'FILE'
        ran.append(seen)
        if argv[0] == 'getenforce':
            return row.get('selinux', ''), ''
        fails = row.get(argv[1]) if argv[0] == 'podman' and argv[1] == 'pull' else row.get('run')
        code, stdout, stderr = fails or [0, '', '']
        if code:
            raise processutils.ProcessExecutionError(
                cmd=' '.join(seen), exit_code=code, stdout=stdout, stderr=stderr)
        return stdout, stderr

    standby.utils.execute = execute
    disk_utils.get_dev_byte_size = lambda device: row['gib'] * GIB
    standby.disk_utils = disk_utils
    extension = standby.StandbyExtension()
    extension._write_no_pivot_root = lambda: ran.append(['no pivot'])
    try:
        extension._download_container_and_bootc_install(
            row['source'], DEVICE, row.get('secret'), row.get('luks', False), row.get('keys'))
    except errors.RESTError as error:
        return {'ran': ran, 'error': [type(error).__name__, error.details]}
    return {'ran': ran, 'error': None}


tempfile.tempdir = '/tmp'
json.dump([answer(row) for row in json.load(sys.stdin)], sys.stdout)
