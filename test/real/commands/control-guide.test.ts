import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocks } from '../../kit/guide.js'

const bundle = new URL('../../../dist/bundle/ironstage.js', import.meta.url).pathname

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('who follows docs/control.md with curl sees what it shows', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-guide-'))
  const port = String(await freePort())
  await writeFile(join(folder, 'ironstage'), `#!/bin/sh\nexec ${process.execPath} ${bundle} "$@"\n`)
  await chmod(join(folder, 'ironstage'), 0o755)
  const script = ['set -euo pipefail', 'trap "kill %1; wait" EXIT']
  const expected: { name: string; text: string }[] = []
  let last = ''
  for (const { language, name, text } of blocks('docs/control.md')) {
    const own = text.replaceAll('6385', port)
    if (language === 'sh' && name === '') script.push(own)
    else if (language === 'sh') script.push(`{\n${own}\n} >${name}.out`)
    else if (language === 'yaml') await writeFile(join(folder, name), own)
    else expected.push({ name: last, text: own })
    last = name
  }
  await writeFile(join(folder, 'guide.sh'), script.join('\n'))
  try {
    const run = spawn('bash', ['guide.sh'], {
      ...{ cwd: folder, env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` } },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let printed = ''
    run.stdout.on('data', (part: Buffer) => void (printed += part.toString()))
    run.stderr.on('data', (part: Buffer) => void (printed += part.toString()))
    const code = await new Promise((resolve) => run.once('close', resolve))
    expect(code, printed.slice(-3000)).toBe(0)
    expect(expected.length).toBeGreaterThan(4)
    for (const { name, text } of expected) {
      const found = await readFile(join(folder, `${name}.out`), 'utf8')
      expect(found.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'NODE'), name).toBe(text)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
