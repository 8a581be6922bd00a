import { randomBytes } from 'node:crypto'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { buildGpt, parseGpt } from '../../../machine/disk/gpt.js'
import { tool } from '../peers.js'

const MIB = 2 ** 20
const ENTRY = '/loader.1/entries/ostree-1-fedora-coreos.conf'

/** Changes to the boot filesystem, as debugfs commands. `$` stands for a folder with {@link EXTRAS}. */
const BOOT_VARIANTS: Record<string, string[]> = {
  'no-entries': [`rm ${ENTRY}`],
  'no-options': [`rm ${ENTRY}`, `write $/no-options.conf ${ENTRY}`],
  'two-options': [`rm ${ENTRY}`, `write $/two-options.conf ${ENTRY}`],
  'no-platform-id': [`rm ${ENTRY}`, `write $/no-platform-id.conf ${ENTRY}`],
  'two-entries': [
    `write $/later.conf /loader.1/entries/ostree-2-fedora-coreos.conf`,
    'write $/x /loader.1/entries/zzz',
  ],
  'no-initrd': [`rm ${ENTRY}`, `write $/no-initrd.conf ${ENTRY}`],
  'no-kernel': [`rm ${ENTRY}`, `write $/no-kernel.conf ${ENTRY}`],
  'lost-initrd': [`rm ${ENTRY}`, `write $/lost-initrd.conf ${ENTRY}`],
  'no-firstboot': ['rm /ignition.firstboot'],
  'old-grub': ['rm /grub2/console.cfg', 'rm /grub2/grub.cfg', 'write $/marked.cfg /grub2/grub.cfg'],
  'no-markers': ['rm /grub2/console.cfg'],
  'no-grub': ['rm /grub2/console.cfg', 'rm /grub2/grub.cfg'],
  'has-config': ['mkdir /ignition', 'write $/x /ignition/config.ign'],
  'has-folder': ['mkdir /ignition'],
  'no-platforms': ['rm /coreos/platforms.json'],
  'bad-platforms': ['rm /coreos/platforms.json', 'write $/x /coreos/platforms.json'],
  'metal-kargs': ['rm /coreos/platforms.json', 'write $/platforms.json /coreos/platforms.json'],
}

const OPTIONS = 'options rw ignition.platform.id=metal $ignition_firstboot console=ttyS9 quiet'
const EXTRAS: Record<string, string> = {
  x: 'x\n',
  'no-options.conf': 'title a\nversion 1\n',
  'two-options.conf': `title a\n${OPTIONS}\n${OPTIONS}\n`,
  'no-platform-id.conf': 'title a\noptions rw quiet\nlinux /vmlinuz\n',
  'later.conf': `title later   \n${OPTIONS}\t  \nversion 2\n\n# end`,
  'no-initrd.conf': `title a\n${OPTIONS}\nlinux /x\n`,
  'no-kernel.conf': `title a\n${OPTIONS}\ninitrd /x\n`,
  'lost-initrd.conf': `title a\n${OPTIONS}\nlinux /x\ninitrd /nowhere.img\n`,
  'marked.cfg': 'a\n# CONSOLE-SETTINGS-START\nold\n# CONSOLE-SETTINGS-END\nb',
  'platforms.json': JSON.stringify({
    metal: { kernel_arguments: ['console=ttyS9'], grub_commands: ['metal'] },
    qemu: { kernel_arguments: ['console=tty0'], grub_commands: ['metal'] },
    aws: { kernel_arguments: [], grub_commands: ['terminal_input console', 'x'] },
  }),
}

/** Images in every format and with everything that can be wrong with one, in a folder. */
export async function makeImages(folder: string): Promise<void> {
  const at = (name: string) => join(folder, name)
  const save = (name: string, bytes: Uint8Array | string) => writeFile(at(name), bytes)
  await copyFile(REHEARSAL_IMAGE, at('m.raw.xz'))
  await done('xz', '-dk', at('m.raw.xz'))
  const raw = await readFile(at('m.raw'))
  const xz = await readFile(at('m.raw.xz'))
  const gz = gzipSync(raw, { level: 1 })
  await save('m.raw.gz', gz)
  await done('zstd', '-q', '-1', at('m.raw'), '-o', at('m.raw.zst'))
  const zst = await readFile(at('m.raw.zst'))
  await save('frames.raw.zst', await twoFrames(folder, raw))
  await save('skippable.raw.zst', Buffer.concat([Buffer.from('502a4d1804000000aaaaaaaa', 'hex'), zst]))
  await save('wrong-name.gz', xz)

  await save('short.raw.xz', xz.subarray(0, xz.length >> 1))
  await save('short.raw.gz', gz.subarray(0, gz.length >> 1))
  await save('short.raw.zst', zst.subarray(0, zst.length >> 1))
  await save('cut-trailer.raw.gz', gz.subarray(0, -3))
  await save('trailing.raw.xz', Buffer.concat([xz, Buffer.from('more')]))
  await save('trailing.raw.gz', Buffer.concat([gz, Buffer.from('more')]))
  await save('trailing.raw.zst', Buffer.concat([zst, Buffer.from('more')]))
  await save('two.raw.xz', Buffer.concat([xz, xz]))
  await save('two.raw.gz', Buffer.concat([gz, gz]))
  await save('corrupt.raw.xz', spoiled(xz, xz.length - 2000))
  await save('corrupt.raw.gz', spoiled(gz, gz.length >> 1))
  await save('bad-crc.raw.gz', spoiled(gz, gz.length - 8, 4))
  await save('cut-frame.raw.zst', zst.subarray(0, -1))
  await save('bad-checksum.raw.zst', spoiled(zst, zst.length - 4, 4))
  await save('bad-header.raw.xz', spoiled(xz, 8, 4))
  await save('tiny.raw', raw.subarray(0, MIB / 2))
  await save('empty.raw', '')
  await save('mib.raw', raw.subarray(0, MIB))
  await save('odd.raw', raw.subarray(0, 3 * MIB + 777))
  await save('blob.raw', Buffer.alloc(3 * MIB, 'not a disk '))
  await save('page.raw.xz', '<html><body>Sign in</body></html>\n')

  const { partitions, diskGuid } = parseGpt(raw, 512)
  const boot = partitions.find(({ name }) => name === 'boot')!
  const filesystem = raw.subarray(boot.offset, boot.offset + boot.length)
  const withBoot = (bytes: Uint8Array) => {
    const copy = Buffer.from(raw)
    copy.set(bytes, boot.offset)
    return copy
  }
  const compressed = (name: string, bytes: Buffer) => save(`${name}.raw.gz`, gzipSync(bytes, { level: 1 }))
  await compressed('no-boot', withBoot(Buffer.alloc(4096)))
  await compressed('two-boots', labelledBoot(raw, partitions.find(({ name }) => name === 'root')!.offset))
  await compressed(
    'no-partitions',
    withTable(raw, buildGpt({ size: raw.length, sectorSize: 512, diskGuid, partitions: [] })),
  )
  const in4k = partitions.map((one) => ({ ...one, firstLba: one.firstLba / 8, lastLba: (one.lastLba + 1) / 8 - 1 }))
  await compressed('4k', withTable(raw, buildGpt({ size: raw.length, sectorSize: 4096, diskGuid, partitions: in4k })))
  await mkdir(at('extras'))
  for (const [name, text] of Object.entries(EXTRAS)) await save(`extras/${name}`, text)
  for (const [name, commands] of Object.entries(BOOT_VARIANTS)) {
    await save('filesystem', filesystem)
    await save('commands', commands.map((command) => `${command.replace('$', at('extras'))}\n`).join(''))
    await done('debugfs', '-w', '-f', at('commands'), at('filesystem'))
    await compressed(name, withBoot(await readFile(at('filesystem'))))
  }
  await makeSignatures(folder, xz)
}

async function twoFrames(folder: string, raw: Buffer): Promise<Buffer> {
  const frames: Buffer[] = []
  for (const part of [raw.subarray(0, 20 * MIB), raw.subarray(20 * MIB)]) {
    await writeFile(join(folder, 'part'), part)
    await done('zstd', '-qf', '-1', join(folder, 'part'), '-o', join(folder, 'part.zst'))
    frames.push(await readFile(join(folder, 'part.zst')))
  }
  return Buffer.concat(frames)
}

function spoiled(bytes: Buffer, at: number, length = 64): Buffer {
  const copy = Buffer.from(bytes)
  for (let index = at; index < at + length; index++) copy[index]! ^= 0x55
  return copy
}

function withTable(raw: Buffer, { primary, backup, backupOffset }: ReturnType<typeof buildGpt>): Buffer {
  const copy = Buffer.from(raw)
  copy.fill(0, 0, 64 * 1024)
  copy.fill(0, raw.length - 64 * 1024)
  copy.set(primary)
  copy.set(backup, backupOffset)
  return copy
}

/** A second filesystem with the label: ext4 has it at 120 of its superblock, without a checksum in this kernel's eyes. */
function labelledBoot(raw: Buffer, offset: number): Buffer {
  const copy = Buffer.from(raw)
  const superblock = copy.subarray(offset + 1024, offset + 2048)
  superblock.fill(0, 120, 136)
  superblock.write('boot', 120)
  superblock.writeUInt32LE(crc32c(superblock.subarray(0, 1020)), 1020)
  return copy
}

/** As ext4 has it: Castagnoli's polynomial, started with all ones and not inverted in the end. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return crc >>> 0
}

async function makeSignatures(folder: string, xz: Buffer): Promise<void> {
  const at = (name: string) => join(folder, name)
  const home = ['env', `GNUPGHOME=${at('keys')}`, 'gpg', '--batch', '--quiet', '--yes', '--passphrase', ''] as const
  await mkdir(at('keys'), { mode: 0o700 })
  await done(...home, '--quick-gen-key', 'Ed <ed@example.org>', 'ed25519', 'sign', 'never')
  await done(...home, '--quick-gen-key', 'Rsa <rsa@example.org>', 'rsa2048', 'sign', 'never')
  const image = at('m.raw.xz')
  const sign = async (name: string, ...how: string[]) => {
    await writeFile(at(name), xz)
    await done(...home, ...how, '-o', at(`${name}.sig`), image)
    return readFile(at(`${name}.sig`))
  }
  const ed = await sign('ed.raw.xz', '-u', 'ed@example.org', '-b')
  await sign('armoured.raw.xz', '-u', 'rsa@example.org', '-a', '-b')
  for (const [name, bytes] of Object.entries({
    'two-signatures': Buffer.concat([ed, ed]),
    'cut-signature': ed.subarray(0, 40),
    'no-signature': Buffer.from('this is no signature\n'),
    'random-signature': Buffer.concat([Buffer.from([0x17]), randomBytes(100)]),
  })) {
    await writeFile(at(`${name}.raw.xz`), xz)
    await writeFile(at(`${name}.raw.xz.sig`), bytes)
  }
  await done('gpgconf', '--homedir', at('keys'), '--kill', 'all')
}

async function done(...argv: [string, ...string[]]): Promise<void> {
  const { code, stderr } = await tool(...argv)
  if (code !== 0) throw new Error(`${argv.join(' ')} failed with ${code}: ${stderr}`)
}
