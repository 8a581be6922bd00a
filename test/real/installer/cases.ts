import { DISK } from '../coreos-installer.js'
import { M, config, from, image, install, on, type Case } from './case.js'
import type { DiskBefore } from './disks.js'
import { HOST } from './server.js'

const WITH_DATA: DiskBefore = {
  table: [
    [5, 'data1', 50, 2],
    [7, 'data2', 54, 1],
    [3, '', 60, 1],
    [9, 'Other thing', 62, 1],
  ],
}
/** A partition to keep lies where the image goes. */
const UNDER_THE_IMAGE: DiskBefore = {
  table: [
    [1, 'low', 10, 2],
    [5, 'data1', 50, 2],
  ],
}

/** Command lines that open the disk. */
export const CASES: Record<string, Case> = {
  // Everything that changes the boot filesystem.
  'nothing but an image': install(...M),
  'an Ignition config': install(...M, '-i', '@/c.ign'),
  'an Ignition config with its hash': install(...M, '-i', '@/c.ign', '--ignition-hash', 'HASH'),
  'an Ignition config with another hash': install(
    ...M,
    '-i',
    '@/c.ign',
    '--ignition-hash',
    `sha512-${'00'.repeat(64)}`,
  ),
  'a Butane config': install(...M, '-i', '@/c.bu'),
  'JSON that is no config': install(...M, '-i', '@/any.json'),
  'YAML without a variant': install(...M, '-i', '@/any.yaml'),
  'an empty config': install(...M, '-i', '@/empty.raw'),
  'a folder for a config': install(...M, '-i', '@/extras'),
  'kernel arguments': install(
    ...M,
    '--append-karg',
    'a=b',
    '--append-karg',
    'c d',
    '--delete-karg',
    'rw',
    '--delete-karg',
    'nowhere',
  ),
  'deleted neighbours': install(
    ...M,
    '--delete-karg',
    'rw mitigations=auto,nosmt',
    '--append-karg',
    'x',
    '--append-karg',
    'x',
    '--append-karg',
    ' y ',
  ),
  'an empty kernel argument': install(...M, '--append-karg', '', '--delete-karg', ''),
  'a console as kernel arguments': install(
    ...M,
    '--append-karg',
    'console=ttyS0,115200',
    '--append-karg',
    'console=tty0',
    '--delete-karg',
    'console=ttyS1',
  ),
  'a console that is none': install(...M, '--append-karg', 'console=ttyS0', '--append-karg', 'console=netcon0'),
  'deleted consoles only': install(...M, '--delete-karg', 'console=ttyS0'),
  'a platform': install(...M, '-p', 'qemu'),
  'the platform metal': install(...M, '-p', 'metal'),
  'a platform that the image does not know': install(...M, '-p', 'moon'),
  'a platform with the commands of metal': install(...image('metal-kargs.raw.gz'), '-p', 'qemu'),
  'a platform that takes arguments away': install(...image('metal-kargs.raw.gz'), '-p', 'aws'),
  'a platform and a console': install(...M, '-p', 'qemu', '--console', 'ttyS0,115200n8'),
  'a console for the arguments of metal': install(...image('metal-kargs.raw.gz'), '--console', 'hvc0'),
  'many consoles': install(
    ...M,
    ...['tty0', 'ttyS1,9600o7', 'ttyAMA0', 'ttysclp0', 'hvc0'].flatMap((one) => ['--console', one]),
  ),
  'first-boot arguments': install(...M, '--firstboot-args', 'rd.neednet=1 ip=dhcp'),
  'a network configuration': install(...M, '-n', '--network-dir', '@/network'),
  'an empty network configuration': install(...M, '-n', '--network-dir', '@/network/folder'),
  'a network configuration that is nowhere': install(...M, '-n', '--network-dir', '@/nowhere'),
  'everything at once': install(
    ...[...M, '-i', '@/c.ign', '-p', 'qemu', '--console', 'ttyS0', '--firstboot-args', 'ip=dhcp', '-n'],
    ...['--network-dir', '@/network/', '--append-karg', 'a', '--delete-karg', 'rw', '--preserve-on-error'],
  ),
  'secure IPL on a machine without': install(...M, '--secure-ipl', '-a', 's390x'),

  // Images whose boot filesystem is not as it should be.
  ...Object.fromEntries(
    ['no-entries', 'no-options', 'two-options', 'two-entries'].map((name) => [
      `kernel arguments on an image with ${name}`,
      install(...image(`${name}.raw.gz`), '--append-karg', 'a'),
    ]),
  ),
  'a platform on an image without its argument': install(...image('no-platform-id.raw.gz'), '-p', 'qemu'),
  'a platform on an image without a table': install(...image('no-platforms.raw.gz'), '-p', 'qemu'),
  'a platform on an image with a broken table': install(...image('bad-platforms.raw.gz'), '-p', 'qemu'),
  'a console on an image without a table': install(...image('no-platforms.raw.gz'), '--console', 'ttyS0'),
  'a network configuration on an image without initramfs': install(
    ...image('no-initrd.raw.gz'),
    '-n',
    '--network-dir',
    '@/network',
  ),
  'a network configuration on an image whose initramfs is lost': install(
    ...image('lost-initrd.raw.gz'),
    '-n',
    '--network-dir',
    '@/network',
  ),
  'first-boot arguments on an image that was booted': install(...image('no-firstboot.raw.gz'), '--firstboot-args', 'x'),
  'a network configuration on an image without kernel': install(
    ...[...image('no-kernel.raw.gz'), '-n', '--network-dir', '@/network'],
  ),
  'a network configuration on an image with two options': install(
    ...[...image('two-options.raw.gz'), '-n', '--network-dir', '@/network'],
  ),
  'a platform on an image without entries': install(...image('no-entries.raw.gz'), '-p', 'qemu'),
  'a platform on an image without markers': install(...image('no-markers.raw.gz'), '-p', 'qemu'),
  'a console on an image without entries': install(...image('no-entries.raw.gz'), '--console', 'ttyS0'),
  'a console on an image with a broken table': install(...image('bad-platforms.raw.gz'), '--console', 'ttyS0'),
  'a console on an older image': install(...image('old-grub.raw.gz'), '--console', 'ttyS0'),
  'a console on an image without markers': install(...image('no-markers.raw.gz'), '--console', 'ttyS0'),
  'a console on an image without GRUB': install(...image('no-grub.raw.gz'), '--console', 'ttyS0'),
  'a config on an image that has one': install(...image('has-config.raw.gz'), '-i', '@/c.ign'),
  'a config on an image with a folder for it': install(...image('has-folder.raw.gz'), '-i', '@/c.ign'),
  'a config on an image without boot': install(...image('no-boot.raw.gz'), '-i', '@/c.ign'),
  'a config on an image with two boots': install(...image('two-boots.raw.gz'), '-i', '@/c.ign'),
  'a config on an image without partitions': install(...image('no-partitions.raw.gz'), '-i', '@/c.ign'),
  'a config on an image without a table': install(...image('blob.raw'), '-i', '@/c.ign'),

  // Formats.
  ...Object.fromEntries(
    [
      ...[
        'm.raw',
        'm.raw.gz',
        'm.raw.zst',
        'frames.raw.zst',
        'skippable.raw.zst',
        'wrong-name.gz',
        'mib.raw',
        'odd.raw',
      ],
      ...['short.raw.xz', 'short.raw.gz', 'short.raw.zst', 'cut-trailer.raw.gz', 'trailing.raw.xz', 'trailing.raw.gz'],
      ...['trailing.raw.zst', 'two.raw.xz', 'two.raw.gz', 'corrupt.raw.xz', 'corrupt.raw.gz', 'bad-crc.raw.gz'],
      ...['bad-header.raw.xz', 'tiny.raw', 'empty.raw', 'blob.raw', 'page.raw.xz'],
    ].map((name) => [`the image ${name}`, install(...image(name))]),
  ),
  'the image corrupt.raw.xz': {
    ...install(...image('corrupt.raw.xz')),
    explained: 'Everything before the damage of an xz image is written',
  },
  'an image that ends early, kept': install(...image('short.raw.xz'), '--preserve-on-error'),
  'no image file': install(...image('nowhere.raw.xz')),
  'a folder for an image': install(...image('extras')),
  'an image as large as the disk': on({ size: 48 }, ...M),
  'a disk that is too small': on({ size: 16 }, ...M),
  'a disk that is too small, kept': on({ size: 16 }, ...M, '--preserve-on-error'),
  'sectors of 4096 bytes': on({ sectorSize: 4096 }, ...image('4k.raw.gz'), '-i', '@/c.ign', '--append-karg', 'a'),
  'an image for sectors of 512 bytes': on({ sectorSize: 4096 }, ...M),
  'an image for sectors of 4096 bytes': install(...image('4k.raw.gz')),
  'a failure with sectors of 4096 bytes': on({ sectorSize: 4096 }, ...image('short.raw.gz')),

  // Signatures.
  'no signature': install('-f', '@/m.raw.xz'),
  ...Object.fromEntries(
    [...['ed', 'armoured', 'two-signatures', 'cut-signature', 'no-signature', 'random-signature']].map((name) => [
      `the signature ${name}`,
      install('-f', `@/${name}.raw.xz`),
    ]),
  ),
  'a wrong signature, insecure': install(...image('ed.raw.xz')),

  // Kept partitions.
  'kept by label': on(WITH_DATA, ...M, '--save-partlabel', 'data*'),
  'kept by labels': on(WITH_DATA, ...M, '--save-partlabel', 'data1,Other thing', '--save-partlabel', 'nothing'),
  'kept by number, with a config': on(WITH_DATA, ...M, '--save-partindex', '5', '-i', '@/c.ign'),
  'kept by numbers that the image uses': on(WITH_DATA, ...M, '--save-partindex', '3-5'),
  'kept by an open range': on(WITH_DATA, ...M, '--save-partindex', '6-'),
  'kept by the empty label': on(WITH_DATA, ...M, '--save-partlabel', ''),
  'nothing to keep': on(WITH_DATA, ...M, '--save-partlabel', 'x', '--save-partindex', '100'),
  'nothing to keep on an empty disk': install(...M, '--save-partindex', '5'),
  'kept in the way': on(UNDER_THE_IMAGE, ...M, '--save-partindex', '1-'),
  'kept in the way, table kept': on(UNDER_THE_IMAGE, ...M, '--save-partindex', '-5', '--preserve-on-error'),
  'kept through a failure': on(WITH_DATA, ...image('short.raw.gz'), '--save-partlabel', '*'),
  'kept for an image without a table': on(WITH_DATA, ...image('blob.raw'), '--save-partlabel', '*'),
  'kept on sectors of 4096 bytes': on(
    { ...WITH_DATA, sectorSize: 4096 },
    ...image('4k.raw.gz'),
    '--save-partindex',
    '5',
  ),
  'kept for other sectors': on({ ...WITH_DATA, sectorSize: 4096 }, ...M, '--save-partindex', '5'),
  'kept by number of an MBR': on({ table: 'dos' }, ...M, '--save-partindex', '5'),
  'kept by label of an MBR': on({ table: 'dos' }, ...M, '--save-partlabel', '*'),
  'kept from the backup table': on({ ...WITH_DATA, damage: 'primary header' }, ...M, '--save-partindex', '5'),
  'kept from damaged entries': on({ ...WITH_DATA, damage: 'primary entries' }, ...M, '--save-partindex', '5'),
  'kept from no table that is left': on({ ...WITH_DATA, damage: 'both headers' }, ...M, '--save-partindex', '5'),

  // Config files.
  'a config file': config(`image-file: "@/m.raw.xz"\ninsecure: true\nappend-karg: [a, "b c"]\ndest-device: ${DISK}\n`),
  'two config files and arguments': {
    args: ['install', '-c', '@/options.yaml', '-c', '@/more.yaml', '--append-karg', 'c', '--console', 'ttyS0', DISK],
    files: {
      'options.yaml': 'image-file: /nowhere\nappend-karg: [a]\nfetch-retries: 3\narchitecture: x86_64\nplatform: ~\n',
      'more.yaml': 'image-file: "@/m.raw.xz"\ninsecure: true\nappend-karg: [b]\nconsole: [tty0]\n',
    },
  },
  'a config file without a device': config('insecure: true\n'),
  'a config file and two devices': config('dest-device: /dev/x\n', DISK),
  'a config file whose list is an option': config('append-karg: [--insecure]\n', DISK),
  ...Object.fromEntries(
    [
      ...['foo: 1\n', 'insecure: yes\n', 'append-karg: a\n', 'append-karg: [a, [b]]\n', '- a\n', 'image-url: x\n'],
      ...[
        'insecure: true\ninsecure: true\n',
        'console: [x]\n',
        'fetch-retries: x\n',
        'null',
        '3',
        'text',
        'platform: {a: 1}\n',
      ],
      ...['insecure: 1.5\n', '? [a]\n: b\n', 'a: 1\n---\nb: 2\n', 'ignition-hash: 3\n', 'firstboot-args: x\n'],
      'append-karg:\n  - a\n  - {b: 1}\n',
      ...['insecure: true\nfoo: 1\n', '\n  insecure: true\n  insecure: true\n', '\n- a\n', '---\nfoo: 1\n'],
      ...['{insecure: true, foo: 1}', 'insecure: true\n&x foo: 1\n', 'append-karg: [ä, {a: b}]\n'],
    ].map((text) => [`the config file ${JSON.stringify(text)}`, config(text, DISK)]),
  ),

  // The network.
  'a download': install(...from('ok'), '-i', '@/c.ign'),
  'a download of unknown length': install(...from('chunked')),
  'a download after two refusals': install(...from('flaky'), '--fetch-retries', '3'),
  'a download after a hang-up': install(...from('hangup-once'), '--fetch-retries', '2'),
  'a redirected download': install(...from('redirect')),
  ...Object.fromEntries(
    [
      ...[
        '404',
        '403',
        '500',
        'hangup',
        'reset',
        'html',
        'empty',
        'short',
        'short-chunked',
        'short-reset',
        'claims-more',
      ],
      ...['claims-less', 'loop', 'lost'],
    ].map((behaviour) => [`a download: ${behaviour}`, install(...from(behaviour))]),
  ),
  'a download: short, kept, with retries': install(...from('short'), '--preserve-on-error', '--fetch-retries', '2'),
  'a refused download with a retry': install('-u', 'http://127.0.0.1:1/m.raw.xz', '--fetch-retries', '1'),
  'a download from nobody': install('-u', 'http://nobody.invalid/m.raw.xz'),
  'a download by another protocol, with a retry': install('-u', 'ftp://127.0.0.1/x', '--fetch-retries', '1'),
  'a download that is refused again and again': install(...from('503'), '--fetch-retries', '1'),
  'a download that leads nowhere, with a retry': install(...from('loop'), '--fetch-retries', '1'),
  'a download by another protocol': install('-u', 'ftp://127.0.0.1/m.raw.xz'),
  'a download with a signature': install('-u', `${HOST}/ok/ed.raw.xz`),
  'a download without a signature': install('-u', `${HOST}/ok/m.raw.xz`),
  'a config from the network': install(...M, '-I', `${HOST}/ok/c.ign`, '--insecure-ignition'),
  'a config from the network with its hash': install(...M, '-I', `${HOST}/ok/c.ign`, '--ignition-hash', 'HASH'),
  'a config from the network that is none': install(...M, '-I', `${HOST}/html/c.ign`, '--insecure-ignition'),
  'a config from the network that is not there': install(...M, '-I', `${HOST}/404/c.ign`, '--insecure-ignition'),
  'a config from the network, cut short': install(...M, '-I', `${HOST}/short/c.ign`, '--insecure-ignition'),

  // Streams.
  ...Object.fromEntries(
    [
      'ok',
      'unsigned',
      'other-format',
      'other-architecture',
      'two-parts',
      'no-parts',
      'bad-url',
      'lost-image',
      'page',
    ].map((name) => [
      `the stream ${name}`,
      install('--stream', name, '--stream-base-url', `${HOST}/ok/`, '--insecure'),
    ]),
  ),
  'a stream for another architecture': install('-s', 'ok', '--stream-base-url', `${HOST}/ok/`, '-a', 'aarch64'),
  'a stream for sectors of 4096 bytes': on(
    { sectorSize: 4096 },
    '-s',
    'ok',
    '--stream-base-url',
    `${HOST}/ok/`,
    '--insecure',
  ),
  'a stream whose base is no folder': install('-s', 'ok', '--stream-base-url', `${HOST}/ok`),
  'offline without an image': install('--offline'),

  // On a terminal.
  'a terminal': { ...install(...M, '-i', '@/c.ign', '--append-karg', 'console=ttyS0'), tty: true },
  'a terminal: unknown length': { ...install(...from('chunked')), tty: true },
  'a terminal: ends early': { ...install(...image('short.raw.gz')), tty: true },
  'a terminal: wrong signature': { ...install('-f', '@/ed.raw.xz'), tty: true },
  'a terminal: usage': { ...install('--frob'), tty: true },
  'a terminal: kept': { ...on(WITH_DATA, ...M, '--save-partindex', '3'), tty: true },
}
