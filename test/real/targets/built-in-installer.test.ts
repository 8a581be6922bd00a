import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { StallingServer, UdevlessContainer } from './udevless-container.js'

// `--installer built-in` on a disk without room, on a full file system, and in an ironstage that is killed. Needs root.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

let container: UdevlessContainer
beforeEach(async () => void (container = await UdevlessContainer.open()))
afterEach(() => container[Symbol.asyncDispose]())

describe('the built-in installer', () => {
  test('writes nothing to a disk that is smaller than the image, and says both sizes', async () => {
    const { out } = await container.run(
      `truncate -s 8M ${container.disk}; $deploy --installer built-in; echo deploy $?`,
    )
    expect(out).toMatch(/^ironstage: the image \S+ needs 50331648 bytes, and \/dev\/loop\d+ has 8388608$/m)
    expect(out).toMatch(/^ {2}try: choose a larger disk; nothing was written\ndeploy 2$/m)
    expect((await readFile(container.disk)).subarray(0, 8).toString()).toBe('precious')
  })

  test('fails on a disk that turns out to be too small for an image of unknown size, and leaves nothing bootable', async () => {
    await using server = await StallingServer.open(join(container.folder, 'half'))
    const { out } = await container.run(`truncate -s 8M ${container.disk}
curl -s --max-time 1 ${server.image} > first
$deploy --installer built-in --image ${server.image} --no-cache; echo deploy $?`)
    expect(out).toMatch(
      /No space left on device \(os error 28\)\. The disk is smaller than the image: choose a larger one by root device hints\.\ndeploy 1$/m,
    )
    expect(await container.isBootable()).toBe(false)
  })

  // The first is full while the image is written; the second has one page too few for the Ignition config.
  test.each([
    ['400k', /coreos-installer failed with code 1: Error: syncing data to disk: Input\/output error/],
    [
      '1380k',
      /coreos-installer succeeded, but the disk is not as asked: the Ignition config on the disk has the digest/,
    ],
  ])('says that the file system with the disk is full, at %s, and succeeds when it has room', async (size, cause) => {
    const { out } = await container.run(`mkdir small; mount -t tmpfs -o size=${size} none small
truncate -s 256M small/disk.img
deploy="$ironstage deploy --target local:small/disk.img --installer built-in"
$deploy; echo deploy $?
mount -o remount,size=64m small
$deploy; echo deploy $?
losetup --associated small/disk.img`)
    const [failed = '', rest = ''] = out.split('deploy 1\n')
    expect(failed).toMatch(cause)
    expect(failed).toContain(
      `: it is the file ${container.folder}/small/disk.img, whose file system is full. Free space`,
    )
    expect(failed).not.toContain('The disk matches the request.')
    expect(rest).toMatch(/The disk matches the request\.\ndeploy 0\n$/)
  })

  test('goes on when its ironstage is killed: the next one names what still writes, and installs once that has ended', async () => {
    const half = join(container.folder, 'half')
    await using server = await StallingServer.open(half)
    const { out } = await container.run(`deploy="$deploy --installer built-in --image ${server.image} --no-cache"
$deploy > first & running=$!
while [ ! -f ${half} ] && kill -0 $running; do sleep 0.1; done
kill -KILL $running; wait $running; echo "first $?"
$deploy > second 2>&1; echo "second $?"; cat second
kill $(sed -n 's/.*(process \\([0-9]*\\)).*/\\1/p' second)
while losetup --associated ${container.disk} | grep -q .; do sleep 0.1; done
grep -c 'matches the request' first
$deploy; echo "third $?"`)
    expect(out).toMatch(
      /^(Killed\n)?first 137\nsecond 1\nironstage: \S+ is not touched: a command that ironstage has started still writes it through loop\d+: node \(process \d+\)\n {2}try: wait until it has ended, or end it with kill/,
    )
    expect(out).toMatch(/^0$/m)
    expect(out).toMatch(/The disk matches the request\.\nthird 0\n$/)
    expect(await container.isBootable()).toBe(true)
  })

  test('is in the single file too, also where that has no folder of its own to unpack to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-single-file-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const program = await makeSingleFile(folder)
    for (const home of [join(folder, 'home'), '/nonexistent']) {
      const { code, out } = await container.run(
        `HOME=${home} $deploy --installer built-in; code=$?; truncate -s 8M ${container.disk}
HOME=${home} $deploy --installer built-in; echo small $?; truncate -s 256M ${container.disk}; exit $code`,
        { program },
      )
      expect({ code }, out).toEqual({ code: 0 })
      expect(out).toMatch(/^ {2}installer {2}built-in \(ironstage /m)
      expect(out).toMatch(/^ironstage: the image \S+ needs 50331648 bytes.*\n {2}try: .*\nsmall 2$/m)
    }
  })
})

/** Makes the program as one file from this build, for this architecture; gives its path. */
async function makeSingleFile(folder: string): Promise<string> {
  const script = `
    import { readdirSync } from 'node:fs'
    import { ARCHITECTURES, programTrees } from './scripts/containers/program-tree.js'
    import { makeSingleFiles } from './scripts/single-file.js'
    const here = Object.keys(ARCHITECTURES).filter((name) => ARCHITECTURES[name] === process.arch)
    const [folder, tarball] = process.argv.slice(1)
    const programs = programTrees(folder + '/' + tarball, 'package-lock.json', here)
    await makeSingleFiles({ out: folder + '/bin', programs, version: '0.0.0' })`
  const run = promisify(execFile)
  const packed = await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT })
  const argv = ['--input-type=module', '--eval', script, folder, packed.stdout.trim().split('\n').at(-1)!]
  await run(process.execPath, argv, { cwd: ROOT })
  const [name] = await readdir(join(folder, 'bin'))
  return join(folder, 'bin', name!)
}
