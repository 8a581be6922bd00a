"""The lab: starts the program, and calls its control API."""

from __future__ import annotations

import base64
import collections
import datetime
import json
import queue
import ssl
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterator, Mapping, Optional, Sequence, Union

from ._program import NotStarted, Program, find_program, started_as

#: pytest shows the line of a test that called, and not the lines of this module.
__tracebackhide__ = True

#: A length of lab time: ``'31m'``, ``'1h30m'``, or a timedelta.
Duration = Union[str, datetime.timedelta]

#: Seconds that the program has to end by itself.
STOP_WITHIN = 10.0


class Refused(Exception):
    """The lab's answer to a call that it does not carry out."""

    def __init__(self, status: int, code: str, message: str, remedy: Optional[str]):
        super().__init__(f'{message} ({remedy})' if remedy else message)
        self.status = status
        #: One of docs/errors.md.
        self.code = code
        self.message = message
        #: Sentence that says how to go on.
        self.remedy = remedy


def start(
    *args: str,
    command: Optional[Sequence[str]] = None,
    env: Optional[Mapping[str, str]] = None,
    username: Optional[str] = None,
    password: str = '',
    start_within: float = 60.0,
) -> Lab:
    """Starts a lab with options of ``ironstage up``, and waits until it is ready.

    The lab takes a free port unless ``--port`` names one. It ends with :meth:`Lab.close`, with the block of a ``with``
    statement, and when this process ends, however it does.

    :param command: starts ironstage, in place of what is found: the variable IRONSTAGE, ``ironstage`` on PATH, a container
        of docker or podman, npx
    :param env: environment of the program; default: that of this process
    :param username: sent with ``password`` where ``--htpasswd`` asks for one
    :param start_within: seconds until it has to be ready
    :raises NotStarted:
    """
    program = Program(command, [f'the command given: {command[0]}']) if command else find_program(env)
    argv = [*program.argv, 'up', '--json', '--stop-with-stdin']
    if not any(arg == '--port' or arg.startswith('--port=') for arg in args):
        argv += ['--port', '0']
    tried = started_as(program)
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen([*argv, *args], stdin=pipe, stdout=pipe, stderr=pipe, env=env)
    except OSError as error:
        raise NotStarted(
            f'starting ironstage as {argv[0]}: {error}; set IRONSTAGE to the path of the program, or install it with npm'
            + tried
        ) from error
    reports: collections.deque[str] = collections.deque(maxlen=40)
    readers = [threading.Thread(target=_keep, args=(process.stderr, reports), daemon=True)]
    events: queue.Queue[Optional[dict[str, Any]]] = queue.Queue()
    readers.append(threading.Thread(target=_read_events, args=(process.stdout, events), daemon=True))
    for reader in readers:
        reader.start()
    try:
        ready = events.get(timeout=start_within)
    except BaseException as error:
        _end(process, readers)
        if not isinstance(error, queue.Empty):
            raise
        reported = ''.join(reports).strip()
        raise NotStarted(f'ironstage was not ready within {start_within:g} s:\n{reported}{tried}') from None
    if ready is None:
        process.wait()
        readers[0].join(STOP_WITHIN)
        _end(process, readers)
        reported = ''.join(reports).strip()
        raise NotStarted(f'ironstage up ended with {process.returncode} before it was ready:\n{reported}{tried}')
    return Lab(process, readers, ready, username, password)


class Lab:
    """An Ironic that runs, with its machines. Nodes are meant by name or UUID; times are lab time."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        readers: Sequence[threading.Thread],
        ready: Mapping[str, Any],
        username: Optional[str],
        password: str,
    ):
        self._process = process
        self._readers = readers
        #: URL of Ironic, without ``/v1``.
        self.url: str = ready['ironic_url'].rstrip('/')
        #: Variables that clients read: OS_ENDPOINT, OS_AUTH_TYPE and others.
        self.environment: dict[str, str] = dict(ready['environment'])
        #: URL of the Kubernetes API, with ``--kube-api``.
        self.kube_url: Optional[str] = ready.get('kube_api_url')
        self._headers = {'Accept': 'application/json'}
        if username is not None:
            secret = base64.b64encode(f'{username}:{password}'.encode()).decode()
            self._headers['Authorization'] = f'Basic {secret}'
        certificate = self.environment.get('OS_CACERT')
        handlers: list[Any] = [urllib.request.ProxyHandler({})]
        if certificate:
            handlers.append(urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=certificate)))
        self._opener = urllib.request.build_opener(*handlers)

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the lab, and waits until it has ended. A second call does nothing."""
        _end(self._process, self._readers)

    def add_fault(
        self,
        match: Mapping[str, str],
        effect: Union[str, Mapping[str, Any]],
        *,
        times: Optional[int] = None,
        after: Optional[int] = None,
        probability: Optional[float] = None,
        between: Optional[tuple[Duration, Duration]] = None,
        label: Optional[str] = None,
    ) -> dict[str, Any]:
        """Adds a fault; its ``id`` lifts it.

        :param match: where it strikes: ``{'node': 'node-1', 'phase': 'install'}``
        :param effect: its kind, or an object with the kind and what belongs to it: ``{'kind': 'status', 'status': 503}``
        """
        fault = {
            'match': dict(match),
            'effect': {'kind': effect} if isinstance(effect, str) else {k: _length(v) for k, v in effect.items()},
            'times': times,
            'after': after,
            'probability': probability,
            'between': None if between is None else [_length(end) for end in between],
            'label': label,
        }
        return self.call('POST', '/faults', {name: value for name, value in fault.items() if value is not None})

    def add_faults(self, faults: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Adds all of the faults, or none of them.

        :param faults: documents as of docs/control.md: ``{'match': {'node': 'node-1'}, 'effect': {'kind': 'bmc-silent'}}``
        """
        return self.call('POST', '/faults', list(faults))['faults']

    def faults(self) -> list[dict[str, Any]]:
        """The faults that were added and not lifted; ``struck`` says how often each has."""
        return self.call('GET', '/faults')['faults']

    def lift_fault(self, fault: str) -> None:
        self.call('DELETE', f'/faults/{_part(fault)}')

    def lift_faults(self, label: Optional[str] = None) -> None:
        """Lifts all faults, or those with a label."""
        self.call('DELETE', '/faults', query={'label': label})

    def clock(self) -> dict[str, Any]:
        """Lab time: ``mode``, ``labTime``, and ``elapsed`` in milliseconds since the lab began."""
        return self.call('GET', '/clock')

    def set_clock(self, mode: str) -> dict[str, Any]:
        """Sets how time passes: ``manual``, ``auto``, ``real``, or a speed as in ``x60``."""
        return self.call('PUT', '/clock', {'mode': mode})

    def advance(self, by: Duration) -> dict[str, Any]:
        """Moves time forward. Whatever comes due on the way happens."""
        return self.call('POST', '/clock/advance', {'by': _length(by)})

    def advance_until(self, node: str, state: str, within: Optional[Duration] = None) -> dict[str, Any]:
        """Moves time forward until a node is in a provision state.

        :param within: lab time that it may take; default: a day
        """
        body: dict[str, Any] = {'until': {'node': node, 'state': state}}
        if within is not None:
            body['within'] = _length(within)
        return self.call('POST', '/clock/advance', body)

    def nodes(self) -> list[dict[str, Any]]:
        return self.call('GET', '/nodes')['nodes']

    def node(self, node: str) -> dict[str, Any]:
        return self.call('GET', f'/nodes/{_part(node)}')

    def enroll(self, count: int = 1, **more: Any) -> list[dict[str, Any]]:
        """Adds machines, each enrolled as a node.

        :param more: ``prefix`` of the names, ``hardware`` of the machines, ``seed`` of their uuids and addresses
        """
        return self.call('POST', '/nodes', {'count': count, **more})['nodes']

    def power(self, node: str, power: str) -> dict[str, Any]:
        """Presses the power button of a node's machine: ``on``, ``off`` or ``reboot``."""
        return self.call('PUT', f'/nodes/{_part(node)}/power', {'power': power})

    def set_carrier(self, machine: str, nic: str, carrier: bool) -> dict[str, Any]:
        """Plugs the cable of a machine's NIC in, or pulls it."""
        return self.call('PUT', f'/machines/{_part(machine)}/nics/{_part(nic)}', {'carrier': carrier})

    def swap_disk(self, machine: str, disk: str, **wanted: Any) -> dict[str, Any]:
        """Puts another disk in the place of one, while the machine is off.

        :param wanted: ``serial``, ``wwn``, ``size`` in bytes, ``model``, ``vendor``, ``rotational``; what is left out is as
            of the old disk. A disk that was there before comes back by its serial number, with its contents.
        """
        return self.call('PUT', f'/machines/{_part(machine)}/disks/{_part(disk)}', wanted)

    def journal(self, limit: Optional[int] = None, **query: Any) -> list[dict[str, Any]]:
        """What happened in the lab, oldest first: all of it, or ``limit`` entries.

        :param query: ``node``, ``machine``, ``kind`` (one or a list), ``route``, ``fault``, ``status``, ``after``
        """
        entries: list[dict[str, Any]] = []
        for page in self._pages(limit, query):
            entries += page
            if limit is not None and len(entries) >= limit:
                break
        return entries

    def _pages(self, limit: Optional[int], query: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
        left = limit
        if isinstance(query.get('kind'), (list, tuple)):
            query['kind'] = ','.join(query['kind'])
        while True:
            most = 1000 if left is None else min(1000, left)
            page = self.call('GET', '/journal', query={**query, 'limit': most})
            entries = page['entries']
            yield entries
            if page['next'] is None or not entries:
                return
            query['after'] = urllib.parse.parse_qs(urllib.parse.urlsplit(page['next']).query)['after'][0]
            left = None if left is None else left - len(entries)

    def story(self, most: int = 30) -> str:
        """The end of the journal for people, in lines of at most 100 characters."""
        try:
            entries = self.journal()
        except (OSError, Refused) as error:
            return f'the journal of the lab could not be read: {error}'
        if not entries:
            return 'the journal of the lab is empty'
        lines = [f'journal of the lab, the last of {len(entries)} entries, in lab time:']
        for entry in entries[-most:]:
            text = f'{entry["labTime"][11:23]}  {_line_of(entry)}'
            lines.append(text if len(text) <= 100 else f'{text[:99]}…')
        return '\n  '.join(lines)

    def take_snapshot(self) -> dict[str, Any]:
        """Takes a snapshot of the whole lab, which has to be at rest; its ``id`` restores it."""
        return self.call('POST', '/snapshots')

    def snapshots(self) -> list[dict[str, Any]]:
        """All snapshots, the oldest first; the first is the start of the lab."""
        return self.call('GET', '/snapshots')['snapshots']

    def restore_snapshot(self, snapshot: str) -> None:
        """Brings the lab back to a snapshot."""
        self.call('POST', f'/snapshots/{_part(snapshot)}/restore')

    def remove_snapshot(self, snapshot: str) -> None:
        self.call('DELETE', f'/snapshots/{_part(snapshot)}')

    def reset(self) -> None:
        """Brings the lab back to its start."""
        self.call('POST', '/reset')

    def call(self, method: str, path: str, body: Any = None, query: Optional[Mapping[str, Any]] = None) -> Any:
        """Calls the control API: ``lab.call('GET', '')`` lists what there is.

        :returns: the document of the answer; None where it has none
        :raises Refused: with the lab's code and remedy
        """
        wanted = {name: value for name, value in (query or {}).items() if value is not None}
        url = f'{self.url}/_lab{path}' + (f'?{urllib.parse.urlencode(wanted)}' if wanted else '')
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers['Content-Type'] = 'application/json'
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with self._opener.open(request) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, f'{method} /_lab{path}', error.read()) from None
        return json.loads(text) if text else None


def _refusal(status: int, call: str, text: bytes) -> Refused:
    try:
        error = json.loads(text)['error']
        return Refused(status, error['code'], error['message'], error['remedy'])
    except (ValueError, KeyError, TypeError):
        return Refused(status, 'no-lab', f'{call} was answered with {status}, not as a lab does', None)


def _line_of(entry: Mapping[str, Any]) -> str:
    def told(*names: str) -> str:
        return ' '.join(str(entry[name]) for name in names if entry.get(name) not in (None, ''))

    name = entry.get('name') or '-'
    error = entry.get('error') or ''
    kind = entry['kind']
    if kind == 'exchange':
        # What became of it comes first: a line is cut at its end, and paths with UUIDs are long.
        return f'{name}  {told("from")} > {told("to")}  {told("status", "error")}  {told("method", "target")}'
    if kind == 'command':
        return f'{name}  $ {" ".join(entry["argv"])}  {error}'.rstrip()
    if kind == 'state':
        return f'{name}  {entry["state"]}  {told("lastError")}'.rstrip()
    if kind == 'bmc':
        return f'{name}  bmc  {told("call")}  {error}'.rstrip()
    return f'{name}  {kind}  {told("fault", "what")}  {error}'.rstrip()


def _length(value: Any) -> Any:
    """A timedelta in milliseconds; other values as they are."""
    return value / datetime.timedelta(milliseconds=1) if isinstance(value, datetime.timedelta) else value


def _part(ident: str) -> str:
    return urllib.parse.quote(ident, safe='')


def _read_events(stdout: Any, events: queue.Queue[Optional[dict[str, Any]]]) -> None:
    """Reads all that the program prints, so that it is never held up; only the event ready is of interest."""
    for line in stdout:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get('event') == 'ready':
            events.put(event)
    events.put(None)


def _keep(stderr: Any, reports: collections.deque[str]) -> None:
    for line in stderr:
        reports.append(line.decode(errors='replace'))


def _end(process: subprocess.Popen[bytes], readers: Sequence[threading.Thread]) -> None:
    """Closes the program's standard input, at whose end it stops."""
    assert process.stdin and process.stdout and process.stderr
    try:
        process.stdin.close()
    except OSError:
        pass  # It has ended before.
    try:
        process.wait(STOP_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for reader in readers:
        reader.join(STOP_WITHIN)
    for stream in (process.stdout, process.stderr):
        stream.close()
