import { expect, test } from 'vitest'
import { parseInstall } from './parse-install.js'
import { UsageError } from './clap.js'
import { formatBytes, ProgressMeter } from '../installer-progress.js'
import { VirtualClock } from '../../../../base/runtime/index.js'

test('options can be written in every form of clap', () => {
  expect(
    parseInstall([
      '-i',
      '/a',
      '-i/b',
      '--append-karg',
      'x=1',
      '--append-karg=y',
      '--delete-karg',
      'z',
      '-np',
      'qemu',
      '--console',
      'ttyS0',
      '--',
      '/dev/sda',
    ]),
  ).toMatchObject({
    ignitionFile: '/b',
    appendKarg: ['x=1', 'y'],
    deleteKarg: ['z'],
    copyNetwork: true,
    platform: 'qemu',
    console: ['ttyS0,9600n8'],
    insecure: false,
    imageUrl: undefined,
    destDevice: '/dev/sda',
  })
})

const usage = (args: string[]): string => {
  try {
    parseInstall(args)
    return 'accepted'
  } catch (error) {
    return error instanceof UsageError ? error.text.split('\n')[0]! : String(error)
  }
}

test.each([
  [['-c', 'x.yaml'], 'accepted'],
  [['/dev/sda', '/dev/sdb'], "error: unexpected argument '/dev/sdb' found"],
  [['/dev/sda', '--platform'], "error: a value is required for '--platform <name>' but none was supplied"],
  [['/dev/sda', '--insecure=yes'], "error: unexpected value 'yes' for '--insecure' found; no more were expected"],
  [
    ['/dev/sda', '-s', 'stable', '-f', 'x'],
    "error: the argument '--stream <name>' cannot be used with '--image-file <path>'",
  ],
  [
    ['/dev/sda', '--console', 'console=tty0'],
    `error: invalid value 'console=tty0' for '--console <spec>': spec should not start with "console="`,
  ],
  [
    ['/dev/sda', '--console', 'tty1'],
    "error: invalid value 'tty1' for '--console <spec>': invalid or unsupported console argument",
  ],
  [
    ['/dev/sda', '--ignition-hash', 'sha256-00'],
    "error: invalid value 'sha256-00' for '--ignition-hash <digest>': wrong digest length (8)",
  ],
])('%j: %s', (args, sentence) => expect(usage(args)).toBe(sentence))

test.each([
  [5, '5 B'],
  [1023, '1023 B'],
  [13_824, '13.5 KiB'],
  [1_288_490_189, '1.2 GiB'],
])('%i bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))

test('progress is printed once a second, and at every read at the end', async () => {
  const clock = new VirtualClock()
  const lines: string[] = []
  const meter = new ProgressMeter({ clock, length: 5_000_000, tty: false, print: (text) => lines.push(text) })
  for (let position = 0; position < 5_000_000; position += 500_000) {
    meter.seen(position)
    await clock.advance(400)
  }
  meter.seen(5_000_000)
  meter.seen(5_000_000)
  expect(lines).toEqual([
    'Read disk 1.4 MiB/4.8 MiB (30%)\n',
    'Read disk 2.9 MiB/4.8 MiB (60%)\n',
    'Read disk 4.3 MiB/4.8 MiB (90%)\n',
    'Read disk 4.8 MiB/4.8 MiB (100%)\n',
    'Read disk 4.8 MiB/4.8 MiB (100%)\n',
  ])
})
