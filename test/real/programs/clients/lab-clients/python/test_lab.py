"""Tests a program of openstacksdk against a lab, as its author would."""

import datetime
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import ironstage
import openstack
import pytest

INSTALL = [{'interface': 'deploy', 'step': 'install_coreos', 'priority': 80, 'args': {}}]


@pytest.fixture
def lab():
    options = ('--nodes', '3', '--clock', 'manual', '--set', 'conductor.deploy_callback_timeout=1800')
    with ironstage.start(*options) as started:
        yield started


def test_a_deployment_fails_where_the_agent_is_silent(lab):
    baremetal = openstack.connect(
        auth_type='none', endpoint=lab.url, baremetal_endpoint_override=lab.url, baremetal_api_version='1.95'
    ).baremetal
    names = ['node-0', 'node-1', 'node-2']

    def ask(node, target, state=None):
        baremetal.set_node_provision_state(node, target, deploy_steps=INSTALL if target == 'active' else None)
        if state:
            lab.advance_until(node, state)

    for node in names:
        ask(node, 'manage', 'manageable')
        ask(node, 'provide', 'available')
    fault = lab.add_fault({'node': 'node-1', 'phase': 'install'}, 'agent-silent', label='silent')
    for node in names:
        ask(node, 'active')
    for node in ('node-0', 'node-2'):
        lab.advance_until(node, 'active', within='10m')
    clock = lab.advance('31m')
    assert clock['mode'] == 'manual' and clock['elapsed'] >= 31 * 60_000
    assert [baremetal.get_node(node).provision_state for node in names] == ['active', 'deploy failed', 'active']
    assert 'Timeout reached' in baremetal.get_node('node-1').last_error

    [struck] = lab.faults()
    assert struck['id'] == fault['id'] and struck['struck'] > 0
    lab.lift_faults('silent')
    ask('node-1', 'active', 'active')
    assert baremetal.get_node('node-1').provision_state == 'active'

    states = [entry['state'] for entry in lab.journal(node='node-1', kind=['state'])]
    assert states[0] == 'enroll' and states[-1] == 'active' and 'deploy failed' in states
    whole = lab.journal()
    assert len(whole) > 100 and lab.journal(limit=7) == whole[:7]


def test_snapshots(lab):
    taken = lab.take_snapshot()
    lab.enroll(1)
    assert len(lab.nodes()) == 4
    lab.restore_snapshot(taken['id'])
    assert len(lab.nodes()) == 3
    lab.call('DELETE', '/nodes/node-0')
    lab.reset()
    assert len(lab.nodes()) == 3
    assert [snapshot['id'] for snapshot in lab.snapshots()] == ['start', taken['id']]
    lab.remove_snapshot(taken['id'])
    with pytest.raises(ironstage.Refused, match=taken['id']):
        lab.restore_snapshot(taken['id'])


def test_calls_and_their_refusals(lab):
    assert lab.enroll(1, prefix='spare-')[0]['name'] == 'spare-3'
    assert [node['name'] for node in lab.nodes()] == ['node-0', 'node-1', 'node-2', 'spare-3']
    machine = lab.node('spare-3')['machine']
    assert lab.set_carrier(machine, 'eno1', False)['nics'][0]['carrier'] is False
    swapped = lab.swap_disk(machine, 'sda', serial='SPARE1')
    assert swapped['disks'][0]['serial'] == 'SPARE1' and len(swapped['takenOut']) == 1
    assert lab.power('spare-3', 'on')['power'] == 'on'
    with pytest.raises(ironstage.Refused, match='is on, and its disks are swapped only while it is off'):
        lab.swap_disk(machine, 'sda')
    with pytest.raises(ironstage.Refused, match='there is no node no/body') as refused:
        lab.node('no/body')
    assert (refused.value.status, refused.value.code) == (404, 'no-such-node')
    with pytest.raises(ironstage.Refused, match='mode is "backwards"'):
        lab.set_clock('backwards')
    late = lab.add_fault({'route': 'GET /v1/drivers'}, {'kind': 'delay', 'for': datetime.timedelta(minutes=1)})
    assert late['effect'] == {'kind': 'delay', 'ms': 60_000}
    lab.lift_fault(late['id'])
    silent = [{'match': {'node': node}, 'effect': {'kind': 'bmc-silent'}} for node in ('node-0', 'node-1', 'nowhere')]
    with pytest.raises(ironstage.Refused, match='fault 3 of 3: there is no node nowhere'):
        lab.add_faults(silent)
    assert [fault['id'] for fault in lab.add_faults(silent[:2])] == [fault['id'] for fault in lab.faults()]
    before = lab.clock()['elapsed']
    assert lab.advance(datetime.timedelta(seconds=90))['elapsed'] - before == 90_000
    assert lab.call('GET', '')['nodes'] == 4
    assert lab.environment['IRONIC_ENDPOINT'] == f'{lab.url}/v1/'
    lab.close()
    lab.close()
    with pytest.raises(urllib.error.URLError):
        lab.clock()


@pytest.mark.parametrize(
    ('more', 'message'),
    [
        ({'args': ['--nodes', 'many']}, 'before it was ready:[^$]*--nodes'),
        ({'command': ['/nowhere/ironstage']}, 'set IRONSTAGE to the path of the program'),
        ({'start_within': 0.01}, 'was not ready within 0.01 s'),
    ],
)
def test_a_start_that_fails(more, message):
    with pytest.raises(ironstage.NotStarted, match=message):
        ironstage.start(*more.pop('args', []), **more)


def test_a_lab_ends_with_its_process():
    script = 'import ironstage, os; print(ironstage.start().url, flush=True); os.abort()'
    ended = subprocess.run([sys.executable, '-c', script], stdout=subprocess.PIPE, env=os.environ, text=True)
    url = ended.stdout.strip()
    assert ended.returncode < 0 and url.startswith('http://127.0.0.1:')
    for _ in range(100):
        try:
            urllib.request.urlopen(f'{url}/v1').close()
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail('the lab goes on without its test')
