import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { IRONSTAGE } from '../../kit/commands/up-process.js'
import { realBinary } from '../coreos-installer.js'
import { attachedTo } from '../local-host.js'
import { tool } from '../peers.js'

/** A container without udevd: a mount and a PID namespace whose /run is empty. Needs root. */

let place: string
let disk: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-no-udev-'))
  disk = join(place, 'disk.img')
  await writeFile(disk, 'precious')
  await truncate(disk, 256 * 2 ** 20)
})
afterEach(async () => {
  const left = await attachedTo(disk)
  for (const device of left.split('\n').filter(Boolean)) await tool('losetup', '--detach', device)
  await rm(place, { recursive: true, force: true })
  expect(left).toBe('')
})

/** Runs shell text there, with `$deploy` for a deployment to the file. */
async function inContainer(
  text: string,
  own = ['--pid', '--mount-proc'],
): Promise<{ code: number | null; out: string }> {
  const script = `mount -t tmpfs none /run\ndeploy="${process.execPath} ${IRONSTAGE} deploy --target local:${disk}"\n${text}`
  const argv = ['--mount', '--fork', '--kill-child', ...own, 'sh', '-c', script]
  const child = spawn('unshare', argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (out += bytes.toString()))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, out }
}

const bootable = async () => {
  const { table, boot } = await inspectDisk({ path: disk }, systemClock())
  return table === 'gpt' && boot !== null
}

describe('a host without udevd', () => {
  test('fails the check, and nothing is written, where the real installer would fail at its end', async () => {
    const installer = await realBinary()
    const { out } = await inContainer(`$deploy --installer ${installer} --check; echo check $?
$deploy --installer ${installer}; echo deploy $?`)
    expect(out).toMatch(/ {2}will fail {2}no udevd is running .*so coreos-installer will fail after it has written/)
    expect(out).toContain('check 1')
    expect(out).toMatch(/^ironstage: no udevd is running .*\n.*or, if the command has it, use --installer built-in$/m)
    expect(out).toContain('deploy 1')
    expect((await readFile(disk)).subarray(0, 8).toString()).toBe('precious')
  })

  test('is installed by the built-in installer, which the report names and nothing warns of', async () => {
    const { code, out } = await inContainer('$deploy --installer built-in --append-karg built=in --json')
    expect({ code }, out).toEqual({ code: 0 })
    const report = JSON.parse(out.trim().split('\n').at(-1)!) as object
    expect(report).toMatchObject({
      event: 'report',
      ok: true,
      installer: expect.stringMatching(/^built-in \(ironstage /),
    })
    expect(out).not.toContain('"level":"warn"')
    expect(await bootable()).toBe(true)
  })

  test('keeps no bootable disk when the built-in installer is killed while it writes', async () => {
    const image = await readFile(REHEARSAL_IMAGE)
    const half = join(place, 'half')
    const server = createServer((request, response) => {
      if (request.url !== '/image.raw.xz') return void response.writeHead(404).end()
      response.writeHead(200, { 'content-length': image.length })
      response.write(image.subarray(0, image.length / 2), () => void writeFile(half, ''))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/image.raw.xz`
    const { out } = await inContainer(`$deploy --installer built-in --image ${url} --no-cache & running=$!
while [ ! -f ${half} ] && kill -0 $running; do sleep 0.1; done
sleep 0.3; pkill -KILL -f '[c]oreos-installer --block-device'
wait $running; echo deploy $?`)
    server.closeAllConnections()
    server.close()
    expect(out).toContain('deploy 1')
    expect(out).toMatch(/coreos-installer failed \(.*SIGKILL/)
    expect(await bootable()).toBe(false)
  })
})

test('a PID namespace with the /proc of another one is refused in a sentence, not waited in', async () => {
  const { code, out } = await inContainer('$deploy --installer built-in', ['--pid'])
  expect(code).toBe(1)
  expect(out).toMatch(
    /^ironstage: this host cannot be used: \/proc shows the processes of another PID namespace.*\n.*unshare --mount-proc$/m,
  )
})
