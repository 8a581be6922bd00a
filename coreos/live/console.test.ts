import { expect, test } from 'vitest'
import { checkConsole, parseConsole } from './console.js'
import { consoleNote } from './console-note.js'

test.each([
  ['ttyS0', 'console=ttyS0,9600n8'],
  ['ttyS007,0115200', 'console=ttyS7,115200n8'],
  ['ttyAMA1,115200e', 'console=ttyAMA1,115200e8'],
  ['ttyS255,9600o7', 'console=ttyS255,9600o7'],
  ['hvc0', 'console=hvc0'],
])('the console %s becomes %s', (spec, karg) => expect(parseConsole(spec)?.karg).toBe(karg))

test('GRUB gets the settings of a serial console', () => {
  expect(parseConsole('ttyS0')?.grub).toEqual({ kind: 'serial', unit: 0, speed: 9600, word: 8, parity: 'no' })
  expect(parseConsole('ttyAMA1,115200e7')?.grub).toMatchObject({ unit: 1, speed: 115200, word: 7, parity: 'even' })
  expect(parseConsole('hvc0')?.grub).toEqual({ kind: 'graphical' })
})

test.each([
  ['console=ttyS0', 'spec should not start with "console="'],
  ['/dev/ttyS0', 'spec should not start with "/dev/"'],
  ['ttyS256', "couldn't parse port"],
  ['ttyS0,4294967296', "couldn't parse speed"],
  ['ttyS0,', 'invalid or unsupported console argument'],
  ['ttyS0,9600x', 'invalid or unsupported console argument'],
  ['ttyS0,9600n9', 'invalid or unsupported console argument'],
  ['tty1', 'invalid or unsupported console argument'],
])('the console %s is refused: %s', (spec, objection) => {
  expect(checkConsole(spec)).toBe(objection)
  expect(parseConsole(spec)).toBeUndefined()
})

const DEST = { karg: '--dest-karg-append', console: '--dest-console' }

// Output of coreos-installer 0.27.0 for the same kernel arguments.
test.each([
  [
    ['ttyS0'],
    [
      'Note: consider using "--dest-console ttyS0" instead of',
      '"--dest-karg-append console=ttyS0" to configure both kernel and bootloader',
      'consoles.',
    ],
  ],
  [
    ['ttyS0', 'ttyS1'],
    [
      'Note: consider using "--dest-console ttyS0 --dest-console ttyS1" instead of',
      '"--dest-karg-append console=ttyS0 --dest-karg-append console=ttyS1" to configure',
      'both kernel and bootloader consoles.',
    ],
  ],
  [
    ['ttyS0,115200n8', 'tty0'],
    [
      'Note: consider using "--dest-console ttyS0,115200n8 --dest-console tty0" instead',
      'of "--dest-karg-append console=ttyS0,115200n8 --dest-karg-append console=tty0"',
      'to configure both kernel and bootloader consoles.',
    ],
  ],
  [
    ['ttyS0,115200n8', 'ttyS1,115200n8', 'tty0', 'hvc0'],
    [
      'Note: consider using',
      '"--dest-console ttyS0,115200n8 --dest-console ttyS1,115200n8 --dest-console tty0 --dest-console hvc0"',
      'instead of',
      '"--dest-karg-append console=ttyS0,115200n8 --dest-karg-append console=ttyS1,115200n8 --dest-karg-append console=tty0 --dest-karg-append console=hvc0"',
      'to configure both kernel and bootloader consoles.',
    ],
  ],
])('the console note for %j breaks its lines where coreos-installer does', (specs, lines) => {
  const kargs = specs.map((spec) => `console=${spec}`)
  expect(consoleNote([...kargs, 'quiet'], DEST)).toBe(`\n${lines.join('\n')}\n`)
})

test('there is no console note without consoles, or with an invalid one', () => {
  expect(consoleNote(['quiet'], DEST)).toBeUndefined()
  expect(consoleNote(['console=ttyS0', 'console=netcon0'], DEST)).toBeUndefined()
  expect(consoleNote(['console=ttyS256'], DEST)).toBeUndefined()
})
