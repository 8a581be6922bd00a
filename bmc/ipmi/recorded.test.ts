import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { exchanged } from '../../test/kit/ipmi/caller.js'
import { servedIpmi } from '../../test/kit/ipmi/served.js'

/**
 * Datagrams of Debian's ipmitool 1.8.19 (`>`) and the answers that it took (`<`), with the machine and the seed of the
 * test kit: `chassis power status`, `chassis bootdev pxe options=persistent,efiboot`, a wrong password, an unknown user.
 */
test.each([
  ['power-status-suite-17', 'Disabled', 'None'],
  ['bootdev-suite-3', 'Continuous', 'Pxe'],
  ['wrong-password', 'Disabled', 'None'],
  ['unknown-user', 'Disabled', 'None'],
])('the datagrams of ipmitool in %s have the same answers again', async (name, enabled, target) => {
  await using served = await servedIpmi()
  const bmc = served.bmc()
  const lines = (await readFile(new URL(`../../test/fixtures/ipmi/${name}.txt`, import.meta.url), 'utf8'))
    .trim()
    .split('\n')
  const again = []
  for (const line of lines.filter((each) => each.startsWith('>'))) {
    const answers = await exchanged(bmc, Buffer.from(line.slice(2), 'hex'))
    again.push(line, ...answers.map((answer) => `< ${answer.toString('hex')}`))
  }
  expect(again).toEqual(lines)
  expect(served.machine().firmware.boot.override).toMatchObject({ enabled, target })
})
