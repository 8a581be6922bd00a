import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import type { DeploymentReport } from '../../../apps/runs/index.js'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { attachedTo, beside, KERNEL, LocalHost, localTools } from '../local-host.js'

const CANARY = 'canary-7f3a91'
const SECRET = `user:${CANARY}\n`
/** As it stands in the config. */
const ENCODED = [CANARY, Buffer.from(SECRET).toString('base64'), gzipSync(SECRET).toString('base64')] as const
const CONFIG = {
  ignition: { version: '3.4.0' },
  passwd: { users: [{ name: 'core', passwordHash: CANARY }] },
  storage: {
    files: [
      { path: '/etc/secret', contents: { source: `data:,${ENCODED[0]}` } },
      { path: '/etc/two', contents: { source: `data:;base64,${ENCODED[1]}` } },
      { path: '/etc/three', contents: { compression: 'gzip', source: `data:;base64,${ENCODED[2]}` } },
    ],
  },
}
const HASHED =
  KERNEL.arrays && KERNEL.mapper
    ? 'an md array and a mounted LV'
    : 'a btrfs over two disks and a mounted one (this kernel has no md or dm)'

let place: string
let tools: { preload: string; installer: string }
let host: LocalHost
let before: Record<string, string>
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-local-'))
  tools = await localTools(place)
  await writeFile(join(place, 'c.ign'), JSON.stringify(CONFIG))
  host = await LocalHost.open(join(place, 'host'))
  before = await host.others()
})
afterEach(async () => {
  expect(await host.others()).toEqual(before)
  expect(await attachedTo(host.disk)).toBe('')
})
afterAll(async () => {
  await host?.[Symbol.asyncDispose]()
  await rm(place, { recursive: true, force: true })
})

const deploy = (more = '') =>
  `$ironstage deploy --target local:${host.disk} --ignition ${join(place, 'c.ign')} --append-karg rehearsal=1 --json ${more}`
/** The installer fetches the image by itself, so that it is the one that meets the server. */
const fetching = (url: string) => `--image ${url} --no-cache`
const lastLine = (out: string): unknown =>
  JSON.parse(
    out
      .trim()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .at(-1)!,
  )
const bootable = async () => {
  const { table, boot } = await inspectDisk({ path: host.disk }, systemClock())
  return table === 'gpt' && boot !== null
}

/** An image server that gives the first bytes of the image and then does as it is told. */
async function imageServer(then: (response: ServerResponse) => void): Promise<{ url: string; server: Server }> {
  const image = await readFile(REHEARSAL_IMAGE)
  const server = createServer((request, response) => {
    if (request.url !== '/image.raw.xz') return void response.writeHead(404).end()
    response.writeHead(200, { 'content-length': image.length })
    response.write(image.subarray(0, Math.floor(image.length / 2)), () => then(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/image.raw.xz`, server }
}

describe(`a host with ${HASHED}, and a file as the disk to install to`, () => {
  test('ends active, with the disk as asked and every other one as it was', async () => {
    await host.freshDisk()
    const { code, out } = await beside(host, tools, deploy())
    expect({ code }, out).toEqual({ code: 0 })
    const report = lastLine(out) as DeploymentReport
    expect(report).toMatchObject({ ok: true, disk: { table: 'gpt' } })
    expect(report.checks.every(({ ok }) => ok)).toBe(true)
    expect(report.kernel_arguments).toContain('rehearsal=1')
    expect(report.ignition?.files).toContain('/etc/secret')
    expect(out).toContain('"percent":100')
    expect(out).not.toContain(CANARY)
    expect(await bootable()).toBe(true)
  })

  test('leaves no bootable disk when the image breaks off, and says why', async () => {
    const { url, server } = await imageServer((response) => response.destroy())
    await host.freshDisk()
    const { code, out } = await beside(host, tools, deploy(fetching(url)))
    server.close()
    expect({ code }, out).toEqual({ code: 1 })
    const sentence = out.split('\n').find((line) => line.startsWith('ironstage: '))
    expect(sentence).toMatch(/coreos-installer failed with code 1: Error: decoding and writing image: .*end of file/)
    expect(out).not.toContain(CANARY)
    expect(await bootable()).toBe(false)
  })

  test('an ironstage that is killed leaves the installer at work, whose device is freed once it has ended', async () => {
    const half = join(place, 'half')
    const go = join(place, 'go')
    const { url, server } = await imageServer((response) => {
      void writeFile(half, '')
      const wait = setInterval(() => {
        if (!existsSync(go)) return
        clearInterval(wait)
        response.destroy()
      }, 50)
    })
    await host.freshDisk()
    const { code, out } = await beside(
      host,
      tools,
      `${deploy(fetching(url))} >/dev/null 2>&1 &
while [ ! -f ${half} ]; do sleep 0.1; done
kill -9 $!; sleep 0.3
pgrep -x coreos-installe >/dev/null && echo still at work
${deploy()}; echo second $?
touch ${go}
while pgrep -x coreos-installe >/dev/null; do sleep 0.1; done
${deploy()}; echo third $?
for f in $(find /run /tmp -xdev -type f -size -1M 2>/dev/null | grep -v ${place}/c.ign); do grep -q ${CANARY} "$f" 2>/dev/null && echo "SECRET in $f"; done; true`,
    )
    server.close()
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toContain('still at work')
    expect(out).toMatch(/is attached to loop\d+ already/)
    expect(out).toContain('second 1')
    expect(out).toContain('third 0')
    expect(out).not.toContain('SECRET')
    expect(out).not.toContain(CANARY)
    expect(await bootable()).toBe(true)
  })

  test('keeps the secrets of the config out of arguments, output and files, when it succeeds and when it fails', async () => {
    const { url, server } = await imageServer((response) => response.destroy())
    const patterns = join(place, 'patterns')
    const home = join(place, 'home')
    await mkdir(home, { recursive: true })
    await writeFile(patterns, `${ENCODED.join('\n')}\n`)
    await host.freshDisk()
    // Collect the output and every command line of that time, then search all of it.
    const { code, out } = await beside(
      host,
      tools,
      `export HOME=${home} XDG_CACHE_HOME= TMPDIR=
watched() { "$@" >${home}/out 2>&1 & running=$!; while kill -0 $running 2>/dev/null; do ps -eo args >>${home}/ps; sleep 0.05; done; wait $running || true; }
watched ${deploy(fetching(url))}
grep -c 'install failed' ${home}/out
cp ${home}/out ${home}/failed
watched ${deploy()}
grep -o '"ok":true' ${home}/out | tail -1 | grep . || tail -n 3 ${home}/out
grep -c 'coreos-installer' ${home}/ps
# Files of other tests come and go meanwhile.
find /run /tmp /dev/shm /var/tmp /var/log ${home} -xdev -type f -size -16M -newer ${patterns} -exec grep -slaF -f ${patterns} {} + 2>/dev/null | sort -u >${home}/found
cat ${home}/found; [ -s ${home}/found ] || echo nowhere`,
    )
    server.close()
    expect({ code }, out).toEqual({ code: 0 })
    expect(out).toMatch(/^[1-9]\d*\n"ok":true\n[1-9]\d*\nnowhere\n$/)
    expect((await readFile(host.disk)).includes(CANARY)).toBe(true)
  })

  test('installs by a step alone, and only looks when told to', async () => {
    await host.freshDisk()
    const bytes = await readFile(host.disk)
    const shown = await beside(
      host,
      tools,
      `$ironstage deploy --target local:${host.disk} --check; $ironstage step run install_coreos --target local:${host.disk} --plan`,
    )
    expect(shown.code, shown.out).toBe(0)
    expect(shown.out).toContain('nothing was written')
    expect(shown.out).toContain('nothing was contacted')
    expect((await readFile(host.disk)).equals(bytes)).toBe(true)

    const { url, server } = await imageServer((response) => {
      void readFile(REHEARSAL_IMAGE).then((image) => response.end(image.subarray(Math.floor(image.length / 2))))
    })
    const args = JSON.stringify({ image_url: url, ignition: CONFIG })
    const { code, out } = await beside(
      host,
      tools,
      `$ironstage step run install_coreos --target local:${host.disk} --args '${args}'`,
    )
    server.close()
    expect({ code }, out).toEqual({ code: 0 })
    expect(await bootable()).toBe(true)
  })

  test('refuses the disks that are in use, and files that are attached', async () => {
    const { out } = await beside(
      host,
      tools,
      `$ironstage deploy --target local:${join(host.folder, 'one.img')}; echo one $?
$ironstage deploy --target local:${join(host.folder, 'three.img')}; echo three $?`,
    )
    expect(out.match(/is attached to loop\d+ already/g)).toHaveLength(2)
    expect(out).toContain('one 1')
    expect(out).toContain('three 1')
  })
})
