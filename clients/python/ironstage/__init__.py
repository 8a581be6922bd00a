"""Runs an Ironic with simulated machines for a test, and works its faults, clock, journal and machines.

The package needs nothing but the standard library. Its plugin gives pytest the fixture ``ironstage``::

    import pytest

    @pytest.mark.ironstage('--nodes', '3', '--clock', 'manual')
    def test_a_deployment_times_out(ironstage):
        ironstage.add_fault({'node': 'node-1', 'phase': 'install'}, 'agent-silent')
        ...  # deploy by a client of ironstage.url
        ironstage.advance('31m')
        assert ironstage.node('node-1')['provision_state'] == 'deploy failed'

Without pytest::

    with ironstage.start('--nodes', '3') as lab:
        print(lab.url)

It starts the program that the variable IRONSTAGE names, else ``ironstage`` on PATH, else a container of docker or podman,
else ``npx``; the last two only in the version of this package, and only as its owner publishes them.
"""

from ._lab import Duration, Lab, Refused, start
from ._program import NotStarted
from ._release import VERSION as __version__

__all__ = ['Duration', 'Lab', 'NotStarted', 'Refused', 'start']
