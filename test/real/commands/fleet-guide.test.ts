import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { followShellGuide } from '../../kit/guides/shell-guide.js'
import { fleetIronic } from '../fleet-ironic.js'
import { openstackClients } from '../programs/clients/baremetal.js'

test('the commands of docs/fleet.md deploy ten machines with a real Ironic', { timeout: 900_000 }, async () => {
  const clients = await openstackClients()
  // The erasure of metadata is what cleaning does; it is shown on other machines.
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const { code, printed, outputs } = await followShellGuide('docs/fleet.md', {
    shown: 'text',
    begin: [`IMAGE=${there.url}/coreos.raw.xz`],
    programs: { baremetal: `${clients}/bin/python ${clients}/bin/baremetal` },
    adapt: (text) =>
      text.replaceAll('http://127.0.0.1:6385', there.ironic.url).replace('--hosts-out', '--redfish-port 0 --hosts-out'),
  })
  expect(code, printed.slice(-3000) + (await there.ironic.logged()).slice(-2000)).toBe(0)
  expect(outputs).toHaveLength(2)
  for (const { name, shown, printed: found } of outputs) expect(found, name).toBe(shown)
})
