import { spawn } from 'node:child_process'
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { blocks } from '../../kit/guide.js'
import { fleetIronic } from '../fleet-ironic.js'
import { openstackClients } from '../programs/clients/baremetal.js'

const bundle = new URL('../../../dist/bundle/ironstage.js', import.meta.url).pathname

test('who follows docs/fleet.md with a real Ironic has ten deployed machines', { timeout: 900_000 }, async () => {
  const clients = await openstackClients()
  // The erasure of metadata is what cleaning does; it is shown on other machines.
  await using there = await fleetIronic({ conductor: { automated_clean: 'false' } })
  await copyFile(REHEARSAL_IMAGE, join(there.folder, 'coreos.raw.xz'))
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-fleet-guide-'))
  const program = async (name: string, line: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\nexec ${line} "$@"\n`)
    await chmod(join(folder, name), 0o755)
  }
  await program('ironstage', `${process.execPath} ${bundle}`)
  await program('baremetal', `${clients}/bin/python ${clients}/bin/baremetal`)
  const script = ['set -euo pipefail', 'trap "kill %1; wait" EXIT', `IMAGE=${there.url}/coreos.raw.xz`]
  const expected: { name: string; text: string }[] = []
  let last = ''
  for (const { language, name, text } of blocks('docs/fleet.md')) {
    const own = text
      .replaceAll('http://127.0.0.1:6385', there.ironic.url)
      .replace('--hosts-out', '--redfish-port 0 --hosts-out')
    if (language === 'sh') script.push(name === '' ? own : `{\n${own}\n} >${name}.out`)
    else if (language === 'text') expected.push({ name: last, text: own })
    last = name
  }
  await writeFile(join(folder, 'guide.sh'), script.join('\n'))
  try {
    const run = spawn('bash', ['guide.sh'], {
      ...{ cwd: folder, env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` } },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    for (const stream of [run.stdout, run.stderr])
      stream.on('data', (part: Buffer) => void (printed += part.toString()))
    const code = await new Promise((resolve) => run.once('close', resolve))
    expect(code, printed.slice(-3000) + (await there.ironic.logged()).slice(-2000)).toBe(0)
    expect(expected).toHaveLength(2)
    for (const { name, text } of expected) expect(await readFile(join(folder, `${name}.out`), 'utf8'), name).toBe(text)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
