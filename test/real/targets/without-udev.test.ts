import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { realBinary } from '../coreos-installer.js'
import { StallingServer, UdevlessContainer } from './udevless-container.js'

let container: UdevlessContainer
beforeEach(async () => void (container = await UdevlessContainer.open()))
afterEach(() => container[Symbol.asyncDispose]())

describe('a host without udevd', () => {
  test('fails the check, and nothing is written, where the real installer would fail at its end', async () => {
    const installer = await realBinary()
    const { out } = await container.run(`$deploy --installer ${installer} --check; echo check $?
$deploy --installer ${installer}; echo deploy $?`)
    expect(out).toMatch(/ {2}will fail {2}no udevd is running .*so coreos-installer will fail after it has written/)
    expect(out).toContain('check 1')
    expect(out).toMatch(/^ironstage: no udevd is running .*\n.*or, if the command has it, use --installer built-in$/m)
    expect(out).toContain('deploy 1')
    expect((await readFile(container.disk)).subarray(0, 8).toString()).toBe('precious')
  })

  test('is installed by the built-in installer, which the report names and nothing warns of', async () => {
    const { code, out } = await container.run('$deploy --installer built-in --append-karg built=in --json')
    expect({ code }, out).toEqual({ code: 0 })
    const report = JSON.parse(out.trim().split('\n').at(-1)!) as object
    expect(report).toMatchObject({
      event: 'report',
      ok: true,
      installer: expect.stringMatching(/^built-in \(ironstage /),
    })
    expect(out).not.toContain('"level":"warn"')
    expect(await container.isBootable()).toBe(true)
  })

  test('keeps no bootable disk when the built-in installer is killed while it writes', async () => {
    const half = join(container.folder, 'half')
    await using server = await StallingServer.open(half)
    const { out } = await container.run(`$deploy --installer built-in --image ${server.image} --no-cache & running=$!
while [ ! -f ${half} ] && kill -0 $running; do sleep 0.1; done
sleep 0.3; pkill -KILL -f '[c]oreos-installer --block-device'
wait $running; echo deploy $?`)
    expect(out).toContain('deploy 1')
    expect(out).toMatch(/coreos-installer failed \(.*SIGKILL/)
    expect(await container.isBootable()).toBe(false)
  })
})

test('a PID namespace with the /proc of another one is refused in a sentence, not waited in', async () => {
  const { code, out } = await container.run('$deploy --installer built-in', { namespaces: ['--pid'] })
  expect(code).toBe(1)
  expect(out).toMatch(
    /^ironstage: this host cannot be used: \/proc shows the processes of another PID namespace.*\n.*unshare --mount-proc$/m,
  )
})
