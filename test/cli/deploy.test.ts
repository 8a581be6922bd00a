import { link, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { inspectDisk } from '../../machine/index.js'
import { systemClock } from '../../base/runtime/index.js'
import { command } from '../kit/commands/command.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

const image = fileURLToPath(new URL('../../images/coreos-metal.raw.xz', import.meta.url))
/** The same files in smaller partitions, for what is not about the image. */
const SMALL = ['--image', fileURLToPath(new URL('../fixtures/images/small-metal.raw.xz', import.meta.url))]
const scratch = () => mkdtemp(join(tmpdir(), 'ironstage-cli-'))
const json = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('ironstage deploy', () => {
  test('takes a machine all the way, tells it line by line, and reads the disk back', async () => {
    const file = join(await scratch(), 'sda.img')
    const secret = 'data:,hunter2'
    const ignition = JSON.stringify({
      ignition: { version: '3.3.0' },
      storage: { files: [{ path: '/etc/secret', contents: { source: secret } }] },
    })
    const argv = ['deploy', '--ignition', '-', '--disk-file', file, '--append-karg', 'a=1', '--append-karg', 'quiet']
    const run = command([...argv, '--delete-karg', 'mitigations=auto,nosmt'], { stdin: ignition })

    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stderr).toBe('')
    for (const stage of ['enroll', 'verify', 'inspect', 'clean', 'deploy', 'first boot'])
      expect(run.stdout).toMatch(new RegExp(`s {2}${stage} done, `))
    expect(run.stdout).toContain('install_coreos: 100 %')
    expect(run.stdout).toContain('The disk matches the request.')
    expect(run.stdout).not.toContain('hunter2')

    const disk = await inspectDisk({ path: file }, systemClock())
    expect(disk.boot).toMatchObject({ ignition: null, firstBoot: false })
    expect(run.stdout).toContain('Ignition   version 3.3.0, mode 0600, sha256 ')
    expect(run.stdout).toContain('✓ Ignition config: as requested, mode 0600')
    expect(run.stdout).toContain('✓ first boot: Ignition ran from /dev/sda, and its config was removed')
    expect(run.stdout).toContain('✓ applied by Ignition: 2 files: kept beside the disk, not on it\n')
    expect(disk.boot!.entry!.kernelArguments).toEqual(expect.arrayContaining(['a=1', 'quiet']))
    expect(disk.boot!.entry!.kernelArguments).not.toContain('mitigations=auto,nosmt')
    expect((await stat(file)).size).toBe(10 * 2 ** 30)
  })

  test('--json prints one object a line, the last one the report', async () => {
    const run = command([
      'deploy',
      '--json',
      ...SMALL,
      '--disk-file',
      join(await scratch(), 'd.img'),
      '--disk-size',
      '1GiB',
    ])
    expect(await run.ended, run.stderr).toBe(0)
    const events = json(run.stdout)
    expect(events[0]).toMatchObject({ event: 'stage', stage: 'enroll', status: 'started' })
    expect(events.filter(({ event }) => event === 'stage')).toHaveLength(12)
    expect(events.at(-1)).toMatchObject({ event: 'report', ok: true, ignition: { version: '3.4.0', mode: '0600' } })
  })

  test('--report writes a page of a deployment that is done, of one that failed, and refuses a file that it cannot write', async () => {
    const folder = await scratch()
    const report = join(folder, 'report.html')
    const argv = ['deploy', '--disk-size', '1GiB', '--report', report]
    const run = command([...argv, ...SMALL, '--disk-file', join(folder, 'a.img')])
    expect(await run.ended, run.stderr).toBe(0)
    const done = await readFile(report, 'utf8')
    for (const part of ['Read back from the disk', 'EFI-SYSTEM', 'deploy.install_coreos', 'Ignition ran from /dev/sda'])
      expect(done, part).toContain(part)

    const full = command([
      ...argv,
      '--disk-file',
      join(folder, 'b.img'),
      '--image',
      'http://127.0.0.1:9/none.raw',
      '--realistic',
      '--speed',
      '1000',
    ])
    expect(await full.ended).toBe(1)
    const failed = await readFile(report, 'utf8')
    expect(failed).toContain('Why it failed')
    expect(failed).toContain('nothing listens at 127.0.0.1:9')

    const nowhere = command([
      'deploy',
      '--report',
      join(folder, 'none', 'report.html'),
      '--disk-file',
      join(folder, 'c.img'),
    ])
    expect(await nowhere.ended).toBe(1)
    expect(nowhere.stderr).toMatch(/the report .* cannot be written/)
    await expect(stat(join(folder, 'c.img'))).rejects.toMatchObject({ code: 'ENOENT' })
  }, 60_000)

  test('on a terminal each stage has a line that is rewritten', async () => {
    const run = command(['deploy', ...SMALL, '--disk-file', join(await scratch(), 'd.img')], { isTTY: true })
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toMatch(/\r\x1b\[K {2}… deploy .*install_coreos: installing to \/dev\/sda .*100 %/)
    expect(run.stdout).toMatch(/\r\x1b\[K {2}✓ deploy /)
  })

  test('through an ironstage that runs already', async () => {
    const up = command(['up', '--port', '0'])
    const [, url] = await up.printed(/ready at (\S+)/)
    const run = command(['deploy', '--ironic-url', `${url}/v1/`])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toMatch(/Read back from the disk of rehearsal-/)
    up.stop()
    expect(await up.ended).toBe(0)
  })

  test('through an ironstage whose BMCs have an account', async () => {
    const up = command(['up', '--port', '0', '--bmc-user', 'root', '--bmc-password', 'calvin'])
    const [, url = ''] = await up.printed(/ready at (\S+)/)
    const account = ['--bmc-user', 'root', '--bmc-password', 'calvin']
    const run = command(['deploy', '--ironic-url', url, ...account])
    expect(await run.ended, run.stderr).toBe(0)
    const wrong = command(['deploy', '--ironic-url', url])
    expect(await wrong.ended).toBe(1)
    expect(wrong.stderr).toContain('returned code 401')
    expect(wrong.stderr).toContain(
      `try: the BMCs of ${url} refuse admin with this password: give the --bmc-user and --bmc-password`,
    )
    up.stop()
    expect(await up.ended).toBe(0)
    const nowhere = command(['deploy', ...account])
    expect(await nowhere.ended).toBe(2)
    expect(nowhere.stderr).toContain('--bmc-user is for --ironic-url')
  })

  test('with an image by URL', async () => {
    const bytes = await readFile(image)
    const server = createServer((request, response) => {
      if (request.url !== '/coreos.raw.xz') return response.writeHead(404).end()
      return response.writeHead(200, { 'content-length': bytes.length }).end(request.method === 'HEAD' ? '' : bytes)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/coreos.raw.xz`
    const run = command(['deploy', '--image', url, '--disk-file', join(await scratch(), 'd.img')])
    expect(await run.ended, run.stderr).toBe(0)
    expect(run.stdout).toContain(`| Downloading image from ${url}`)
    server.close()
  })
})

describe('a disk file', () => {
  test('that ironstage made is used again, another one only with --overwrite', async () => {
    const file = join(await scratch(), 'd.img')
    const argv = ['deploy', ...SMALL, '--disk-file', file, '--disk-size', '1GiB']
    expect(await command(argv).ended).toBe(0)
    expect(await command(argv).ended).toBe(0)

    const thesis = join(await scratch(), 'thesis.txt')
    await writeFile(thesis, 'ten years of work')
    const refused = command(['deploy', '--disk-file', thesis])
    expect(await refused.ended).toBe(2)
    expect(refused.stderr).toBe(
      `ironstage: ${thesis} exists and was not made by ironstage\n` +
        '  try: name another file with --disk-file, or erase this one with --overwrite\n',
    )
    expect(await readFile(thesis, 'utf8')).toBe('ten years of work')
    expect(await command(['deploy', ...SMALL, '--disk-file', thesis, '--overwrite']).ended).toBe(0)
  })

  test('whose note belongs to another file is not taken for ours', async () => {
    const folder = await scratch()
    const ours = join(folder, 'ours.img')
    expect(await command(['deploy', ...SMALL, '--disk-file', ours, '--disk-size', '1GiB']).ended).toBe(0)
    const theirs = join(folder, 'theirs.img')
    await writeFile(theirs, 'theirs')
    await link(`${ours}.ironstage`, `${theirs}.ironstage`)
    expect(await command(['deploy', '--disk-file', theirs]).ended).toBe(2)
    expect(await readFile(theirs, 'utf8')).toBe('theirs')
  })

  test('that is not a regular file is refused, even with --overwrite', async () => {
    const refused = command(['deploy', '--disk-file', '/dev/null', '--overwrite'])
    expect(await refused.ended).toBe(2)
    expect(refused.stderr).toContain('/dev/null is not a regular file')
  })
})

describe('bad input ends in one sentence with a remedy, before anything is started', () => {
  const notJson = async () => {
    const file = join(await scratch(), 'c.ign')
    await writeFile(file, 'version: 3')
    return ['--ignition', file]
  }
  const truncatedXz = async () => {
    const file = join(await scratch(), 'short.raw.xz')
    await writeFile(file, (await readFile(image)).subarray(0, 8000))
    return ['--image', file]
  }
  const raw = async (changed: (bytes: Buffer) => Uint8Array) => {
    const file = join(await scratch(), 'x.raw')
    await writeFile(file, changed(await smallImage()))
    return ['--image', file]
  }
  test.each<[string, number, () => Promise<string[]>, RegExp]>([
    ['an unknown option', 2, () => Promise.resolve(['--disk-fil', 'x']), /unknown option '--disk-fil'/],
    ['a size that is none', 2, () => Promise.resolve(['--disk-size', 'big']), /--disk-size is "big"/],
    ['a config that is not there', 2, () => Promise.resolve(['--ignition', '/nope.ign']), /\/nope\.ign cannot be read/],
    ['a config that is not JSON', 1, notJson, /JSON/],
    ['an image that is not there', 2, () => Promise.resolve(['--image', '/nope.raw']), /\/nope\.raw/],
    ['a truncated xz image', 1, truncatedXz, /is truncated/],
    [
      'a truncated raw image',
      1,
      () => raw((bytes) => bytes.subarray(0, Math.floor(bytes.length * 0.8))),
      /is truncated: its partition table describes/,
    ],
    [
      'an image with trailing junk',
      1,
      () => raw((bytes) => Buffer.concat([bytes, Buffer.from('junk')])),
      /is followed by bytes that do not belong to it/,
    ],
    [
      'an image without a table',
      1,
      async () => {
        const file = join(await scratch(), 'z.raw')
        await writeFile(file, Buffer.alloc(2 ** 21))
        return ['--image', file]
      },
      /partition table|GPT/,
    ],
    [
      'a disk smaller than the image',
      2,
      () => Promise.resolve(['--disk-size', '16MiB']),
      /needs a disk of 50331648 bytes/,
    ],
    [
      'an image file for a remote ironstage',
      2,
      () => Promise.resolve(['--ironic-url', 'http://127.0.0.1:1', '--image', image]),
      /cannot be reached/,
    ],
    [
      'a disk file for a remote ironstage',
      2,
      () => Promise.resolve(['--ironic-url', 'http://127.0.0.1:1', '--disk-file', 'x']),
      /--disk-file cannot be used with --ironic-url/,
    ],
    ['an Ironic that is not there', 1, () => Promise.resolve(['--ironic-url', 'http://127.0.0.1:1']), /127\.0\.0\.1:1/],
  ])('when it is %s', async (_, code, args, message) => {
    const options = await args()
    const file = join(await scratch(), 'd.img')
    const run = command(['deploy', ...(options.includes('--ironic-url') ? [] : ['--disk-file', file]), ...options])
    expect(await run.ended, run.stdout + run.stderr).toBe(code)
    expect(run.stderr).toMatch(message)
    expect(run.stderr).not.toContain('this is a defect')
    await expect(stat(file)).rejects.toThrow('ENOENT')
  })
})
