import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inShells } from '../../test/kit/commands/in-shells.js'
import { atMountPoint, mountPointUse } from './mount-points.js'

describe('a command acts on a mount point', () => {
  const use = (line: string) => mountPointUse(line.split(' ') as [string, ...string[]])

  test.each([
    ['mkdir -p /run/ironstage/mnt/sda1', ['mkdir', '-p']],
    ['mkdir /run/ironstage/mnt/sda1', ['mkdir']],
    ['rmdir /run/ironstage/mnt/sda1', ['rmdir']],
    ['umount /run/ironstage/mnt/sda1', ['umount']],
    ['mount -o ro /dev/sda1 /run/ironstage/mnt/sda1', ['mount', '-o', 'ro', '/dev/sda1']],
  ])('when it is: %s', (line, words) => {
    expect(use(line)).toEqual({ name: 'sda1', words })
  })

  test.each([
    'mkdir -p /run/ironstage/mnt/sda1/etc',
    'mkdir -p -m 0777 /run/ironstage/mnt/sda1',
    'mkdir -p /run/ironstage/mnt/..',
    'mkdir -p /run/ironstage/mnt/.hidden',
    'mkdir -p /run/ironstage/mnt/-x',
    "mkdir -p /run/ironstage/mnt/a'b",
    'mkdir -p /run/ironstage/mnt/a\nb',
    'mkdir -p /run/ironstage/mnt/a\\b',
    'mkdir -p /run/ironstage/mnt/',
    'umount -l /run/ironstage/mnt/sda1',
    'umount /run/ironstage/mnt/sda1/boot',
    'mount -o ro,bind /dev/sda1 /run/ironstage/mnt/sda1',
    'mount -o rw /dev/../etc /run/ironstage/mnt/sda1',
    'mount -t fuse.x -o ro /dev/sda1 /run/ironstage/mnt/sda1',
    'mount --bind /etc /run/ironstage/mnt/sda1',
    'mount -t overlay none /run/ironstage/mnt/sda1',
    'ln -s /etc /run/ironstage/mnt/sda1',
    'rm -rf /run/ironstage/mnt/sda1',
  ])('but not %j', (line) => {
    expect(use(line)).toBeNull()
  })
})

describe('a mount point', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'ironstage-mount-points-'))
    await mkdir(join(root, 'canary'))
  })
  afterEach(() => rm(root, { recursive: true, force: true }))

  const at = (line: string) => {
    const use = mountPointUse(line.split(' ') as [string, ...string[]])
    return atMountPoint(use!, '', { root, confined: true })
  }
  /** Output of a script, once for all shells. */
  const printed = (script: string): string[] => [
    ...new Set(inShells(script, root).map(({ stdout, stderr }) => `${stdout}${stderr}`.trim())),
  ]
  const POINT = '/run/ironstage/mnt/sda1'
  const REFUSE = `refuse() { printf 'refused: %s\\n' "$1"; exit 0; }`

  test('is mounted on where it was opened, whatever its name leads to by then', async () => {
    const { argv, guard } = at(`mount -o rw /dev/sda1 ${POINT}`)
    expect(argv).toEqual(['mount', '-i', '-c', '-o', 'rw,nosuid,nodev,noexec', '/dev/sda1', '.'])
    const script = `${REFUSE}
rm -rf ${root}${POINT} ${root}/moved; mkdir -p ${root}${POINT}
${guard}
mv ${root}${POINT} ${root}/moved; ln -s ${root}/canary ${root}${POINT}
[ . -ef ${root}/moved ] && echo held`
    expect(printed(script)).toEqual(['held'])
  })

  test('is no link, and no folder that a link leads to', async () => {
    const { guard } = at(`mount -o rw /dev/sda1 ${POINT}`)
    const points = `${root}/run/ironstage/mnt`
    const link = `${REFUSE}
mkdir -p ${points}; ln -sfn ${root}/canary ${points}/sda1
${guard}
echo there`
    expect(printed(link)).toEqual([`refused: there is no folder ${points}/sda1`])
    // The name becomes a link between two looks.
    const flipped = `${REFUSE}
rm() { :; }
ln -sfn ${root}/canary ${points}/sda1
${guard}
echo there`
    expect(printed(flipped)).toEqual([`refused: ${points}/sda1 leads to another folder`])
  })

  test.each(['mkdir -p', 'rmdir', 'umount'])('is made and left relative to the folder of all: %s', async (words) => {
    const { argv, guard, after } = at(`${words} ${POINT}`)
    expect(argv.at(-1)).toBe('./sda1')
    expect(after).toBeUndefined()
    await symlink(join(root, 'canary'), join(root, 'link'))
    expect(printed(`${REFUSE}\n${guard}\npwd -P`)).toEqual([`${root}/run/ironstage/mnt`])
  })

  test('that a killed run has left mounted is unmounted once nobody uses the target', async () => {
    const { after } = at(`mount -o rw /dev/sda1 ${POINT}`)
    const base = join(root, 'own')
    await mkdir(join(base, 'runs/run-1'), { recursive: true })
    await mkdir(join(root, 'run/ironstage/mnt'), { recursive: true })
    const keeper = (more: string) => `
rm -f ${base}/runs/.used
base=${base} points=${root}/run/ironstage/mnt code=0 turns=0
alive() { [ -n "\${busy:-}" ]; }
nap() { turns=$((turns + $1)); ${more}; }
umount() { echo "umount $* after $turns s"; }
${after!.replace(/is_mounted\(\) .*/, 'is_mounted() { [ "$turns" -lt 7200 ]; }')}
echo "ended after $turns s"`
    const left = `umount -i -c ./sda1 after 1795 s\nended after 1795 s`
    expect(printed(keeper(':'))).toEqual([left])
    const script = `[ "$turns" -ne 600 ] || echo again >${base}/runs/.used`
    expect(printed(keeper(script)).map((text) => text.split('\n')[1])).toEqual(['ended after 2400 s'])
    expect(printed(keeper('busy=1'))).toEqual(['ended after 7200 s'])
    expect(await readFile(join(base, 'runs/.used'), 'utf8')).toBe('')
  })
})
