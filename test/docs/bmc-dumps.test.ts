import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readOneMachine } from '../../apps/cli/options/hardware-file.js'
import { serveHttp } from '../../base/wire/index.js'
import { systemClock } from '../../base/runtime/index.js'
import { defaultMachineSpec, withHardware } from '../../machine/index.js'
import { dumpFolder } from '../kit/bmc-dumps/dumped-faces.js'
import { command } from '../kit/commands/command.js'
import { words } from '../kit/guides/guide.js'
import { ADMIN, served } from '../kit/redfish/served.js'

const page = await readFile(new URL('../../docs/bmc-dumps.md', import.meta.url), 'utf8')

test('the lines of docs/bmc-dumps.md make a machine of a BMC', async () => {
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: 'idrac9' })
  await using bmc = await served(1, {}, { dialect: 'idrac9', manufacturer, product })
  const server = await serveHttp({ dispatch: bmc.service.dispatch, port: 0, clock: systemClock() })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const folder = await dumpFolder()
  await writeFile(join(folder, 'bmc.password'), `${ADMIN.password}\n`)
  const [, block = ''] = /```sh\n([^]*?)```/.exec(page) ?? []
  const lines = block.split('\n').filter((line) => line.startsWith('ironstage bmc '))
  expect(lines).toHaveLength(2)
  const place = (word: string): string => (/^(?:dump|machine|bmc\.password)$/.test(word) ? join(folder, word) : word)
  for (const line of lines) {
    const [, group = '', verb = '', ...rest] = words(line)
    const argv = rest.map((word) => (word === 'root' ? ADMIN.username : place(word)))
    const run = command([group, verb, ...argv.map((word) => (word === 'https://192.0.2.11' ? server.url : word))])
    expect([line, await run.ended, run.stderr]).toEqual([line, 0, expect.any(String)])
  }
  const hardware = await readOneMachine(join(folder, 'machine/hardware.yaml'))
  expect(hardware).toMatchObject({ manufacturer, product, bmc: { base: 'idrac9' } })
}, 120_000)
