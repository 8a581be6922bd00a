import { BenchClient } from './bench-client.js'
import { listed, type Latency } from './lists.js'
import type { Measured } from './measure.js'
import type { Row } from './rows.js'
import { withUp } from './up.js'

const MACHINES = 10_000
const PASSWORD = 'secret-password'
/** How often each is asked. */
const ASKED = { machine: 1000, collection: 100 }

/** BMCs of many machines behind one listener, with Basic credentials on a connection that is kept. */
export const redfishOfThousands = (): Promise<Measured[]> =>
  withUp(MACHINES, ['--redfish-port', '0', '--bmc-password', PASSWORD], async (_, up) => {
    using client = new BenchClient(up.redfishUrl!, {
      authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`,
    })
    const get = (path: string, count = ASKED.machine) => listed(client, `/redfish/v1${path}`, count)
    const system = await get(`/Systems/machine-${MACHINES / 2}`)
    const media = await get(`/Managers/machine-${MACHINES}/VirtualMedia/Cd`)
    const collection = await get('/Systems', ASKED.collection)
    const rows = (p50: Row, p99: Row, of: Latency) => [row(p50, of.p50, 1), row(p99, of.p99, 5)]
    return [
      ...rows('a system of 10,000 by Redfish, p50', 'a system of 10,000 by Redfish, p99', system),
      ...rows('a medium of 10,000 by Redfish, p50', 'a medium of 10,000 by Redfish, p99', media),
      { ...row('the collection of 10,000 systems by Redfish', collection.p50, null), runs: ASKED.collection },
    ]
  })

const row = (what: Row, ours: number, reach: number | null): Measured => ({
  what,
  ours,
  reach,
  peer: null,
  unit: 'ms',
  runs: ASKED.machine,
})
