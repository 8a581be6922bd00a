import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../kit/ipmi/caller.js'
import { overUdp } from '../kit/ipmi/over-udp.js'
import { command } from '../kit/commands/command.js'

test('ironstage up --ipmi-port serves the BMC of each machine on a port of its own', async () => {
  const account = { username: 'admin', password: 'secret-1' }
  const up = command([
    'up',
    '--port',
    '0',
    '--nodes',
    '2',
    '--ipmi-port',
    '0',
    '--json',
    '--bmc-user',
    account.username,
    '--bmc-password',
    account.password,
  ])
  onTestFinished(async () => {
    up.stop()
    await up.ended
  })
  const [, ready] = await up.printed(/(\{"event":"ready".*\})\n/)
  const { ipmi_ports: ports } = JSON.parse(ready!) as { ipmi_ports: Record<string, number> }
  expect(Object.keys(ports)).toEqual(['machine-1', 'machine-2'])
  using bmc = overUdp(ports['machine-2']!)
  const caller = await openSession(bmc, account)
  expect([...(await caller.done(0x00, 0x01))]).toEqual([0, 0, 0x40])
})
