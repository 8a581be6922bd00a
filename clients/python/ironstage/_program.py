"""Finds the program ironstage."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Mapping, NamedTuple, Optional, Sequence, Union

from ._release import CONTAINER_IMAGE, NPM_PACKAGE, VERSION

#: Seconds that docker or podman has to say whether it works.
ENGINE_WITHIN = 10.0


#: Attempts before one that fetches: IRONSTAGE, and ironstage on PATH.
FETCHED_AFTER = 2

REMEDY = 'Set IRONSTAGE to the path of the program, or install it with npm.'


class NotStarted(Exception):
    """The program has not become ready; the message has the end of what it reported, and where a program was looked for."""


class Program(NamedTuple):
    """A program to start, and why no earlier one."""

    argv: Sequence[str]
    tried: Sequence[str]


def find_program(env: Optional[Mapping[str, str]]) -> Program:
    """The program that IRONSTAGE names, else one on PATH, else a container, else npx.

    :param env: environment of the program; default: that of this process
    :raises NotStarted: with what was tried
    """
    variables = os.environ if env is None else env
    path = variables.get('PATH', '')
    named = variables.get('IRONSTAGE')
    if named:
        return Program(['node', named] if named.endswith('.js') else [named], [f'IRONSTAGE: {named}'])
    tried = ['IRONSTAGE: not set']
    found = shutil.which('ironstage', path=path)
    if found:
        return Program([found], [*tried, f'ironstage on PATH: {found}'])
    tried.append('ironstage on PATH: none')
    container = _find_container(variables, path)
    if not isinstance(container, str):
        return Program(container, [*tried, f'a container: {container[0]} with {CONTAINER_IMAGE}:{VERSION}'])
    tried.append(f'a container: {container}')
    npx = shutil.which('npx', path=path)
    if npx:
        argv = _npx(npx)
        return Program(argv, [*tried, 'npx: ' + ' '.join(argv)])
    tried.append('npx: none on PATH')
    raise NotStarted(f'no program ironstage was found; tried:\n{lines_of(tried)}\n{REMEDY}')


def started_as(program: Program) -> str:
    """The end of a message about a start that failed."""
    # What fetches a program fails where there is no network, and says nothing of the other ways.
    remedy = f'\n{REMEDY}' if len(program.tried) > FETCHED_AFTER else ''
    return f'\nHow it was started:\n{lines_of(program.tried)}{remedy}'


def lines_of(tried: Sequence[str]) -> str:
    return '\n'.join(f'  {attempt}' for attempt in tried)


def _npx(npx: str) -> list[str]:
    """The name of another owner is never run: what is not published is only taken where it is installed."""
    return [npx, '--yes', f'{NPM_PACKAGE}@{VERSION}'] if NPM_PACKAGE else [npx, '--no', f'ironstage@{VERSION}']


def _find_container(variables: Mapping[str, str], path: str) -> Union[list[str], str]:
    """The command of a container, or why there is none."""
    if not CONTAINER_IMAGE:
        return f'no image of {VERSION} is published'
    failures: list[str] = []
    for engine in ('docker', 'podman'):
        found = shutil.which(engine, path=path)
        failure = _failure_of(found, variables) if found else 'none on PATH'
        if found and not failure:
            return _container(found, variables)
        failures.append(f'{engine}: {failure}')
    return '; '.join(failures)


def _failure_of(engine: str, variables: Mapping[str, str]) -> str:
    """Why an engine does not work; empty if it does. The command of docker may be there without its service."""
    try:
        ended = subprocess.run(
            [engine, 'version'],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=dict(variables),
            timeout=ENGINE_WITHIN,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ended.returncode == 0:
        return ''
    reported = ended.stderr.decode(errors='replace').strip().splitlines()
    return reported[-1] if reported else f'ended with {ended.returncode}'


def _container(engine: str, variables: Mapping[str, str]) -> list[str]:
    """The container has the network of this computer, its variables of ironstage, and reads the current folder.

    It reads it as the user of this process: a home is often closed to others, and labelled by SELinux.
    """
    folder = os.getcwd()
    argv = [engine, 'run', '--rm', '--interactive', '--network', 'host']
    argv += ['--user', _user_in(engine), '--security-opt', 'label=disable']
    argv += ['--volume', f'{folder}:{folder}:ro', '--workdir', folder]
    for name in sorted(variables):
        if name.startswith('IRONSTAGE_'):
            argv += ['--env', name]
    return [*argv, f'{CONTAINER_IMAGE}:{VERSION}']


def _user_in(engine: str) -> str:
    """The user of this process as a container of the engine numbers it: in one of Podman the user who starts it is root."""
    if 'podman' in os.path.basename(engine) or not hasattr(os, 'getuid'):
        return '0:0'
    return f'{os.getuid()}:{os.getgid()}'
