import pytest


@pytest.mark.ironstage('--nodes', '3', '--clock', 'manual')
def test_half_an_hour_takes_no_time(ironstage):
    fault = ironstage.add_fault({'node': 'node-1'}, 'bmc-silent')

    # Here the client under test works with ironstage.url.

    assert ironstage.advance('31m')['elapsed'] == 31 * 60_000
    ironstage.lift_fault(fault['id'])
    assert [entry['what'] for entry in ironstage.journal(kind='fault')][0] == 'added'
