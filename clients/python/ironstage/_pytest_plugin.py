"""The plugin of pytest: the fixture ``ironstage``, and the journal of each lab of a test that fails."""

from __future__ import annotations

from typing import Any, Generator, Iterator

import pytest

from ._lab import Lab, start


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini('ironstage_args', 'Options of `ironstage up` for the fixture ironstage.', type='args', default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        'markers', 'ironstage(*args): options of `ironstage up` for the fixture ironstage, after those of ironstage_args'
    )


@pytest.fixture
def ironstage(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """A lab of this test: options come from ``ironstage_args`` of the configuration and the marker ``ironstage``."""
    __tracebackhide__ = True
    args = list(request.config.getini('ironstage_args'))
    marker = request.node.get_closest_marker('ironstage')
    if marker is not None:
        args += marker.args
    with start(*args) as lab:
        yield lab


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Shows the journal of each lab that a fixture of a failed test gave: here its labs still run."""
    outcome = yield
    report = outcome.get_result()
    if report.when == 'call' and report.failed:
        for name, value in getattr(item, 'funcargs', {}).items():
            if isinstance(value, Lab):
                report.sections.append((f'lab of the fixture {name}', value.story()))
