import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { LineSplitter } from '../sdk/line-splitter.js'
import { readFailure } from './install-failure.js'
import { progressPercent } from './install-progress.js'

/** Distilled from what coreos-installer 0.27.0 printed. */
const recorded = JSON.parse(
  readFileSync(new URL('../../test/fixtures/install-coreos/installer-output.json', import.meta.url), 'utf8'),
) as Record<string, { code: number; stderr: string }>

const lines = (name: string): string[] => {
  const found: string[] = []
  const splitter = new LineSplitter((line) => found.push(line))
  splitter.push(new TextEncoder().encode(recorded[name]!.stderr))
  splitter.end()
  return found
}
const failure = (name: string) => readFailure(lines(name), { kind: 'exited', code: recorded[name]!.code })

describe('the reason of a failed installation', () => {
  test.each([
    ['fail-corrupt-xz', 'with code 1: Error: decoding and writing image: lzma data error', false],
    [
      'fail-truncated-xz',
      'with code 1: Error: decoding and writing image: xz compressed stream is truncated or otherwise corrupt',
      false,
    ],
    [
      'fail-truncated-xz-pty',
      'with code 1: Error: decoding and writing image: xz compressed stream is truncated or otherwise corrupt',
      false,
    ],
    [
      'fail-disk-too-small',
      'with code 1: Error: decoding and writing image: No space left on device (os error 28)',
      false,
    ],
    ['fail-bad-signature', 'with code 1: Error: GPG verification failure', false],
    ['fail-no-signature', 'with code 1: Error: --insecure not specified and signature not found', false],
    ['fail-no-boot-partition', "with code 1: Error: couldn't find boot device for /dev/sda", false],
    [
      'fail-disk-busy-partition',
      'with code 1: Error: checking for exclusive access to /dev/sda: found busy partitions; /dev/sdap1 mounted on /tmp/case/busy',
      false,
    ],
    [
      'fail-disk-busy-whole',
      "with code 1: Error: checking for exclusive access to /dev/sda: couldn't reread partition table: device is in use: EBUSY: Device or resource busy",
      true,
    ],
    [
      'fail-no-device',
      'with code 1: Error: checking whether /dev/nosuch is an IBM DASD disk: getting absolute path to /dev/nosuch: No such file or directory (os error 2)',
      false,
    ],
    [
      'fail-not-block',
      'with code 1: Error: getting sector size of /images/c.ign: "/images/c.ign" is not a block device',
      false,
    ],
    [
      'fail-url-404',
      "with code 1: Error: fetching image URL: fetching 'http://127.0.0.1:PORT/404/fake-coreos-metal.raw.xz': HTTP status client error (404 Not Found) for url (http://127.0.0.1:PORT/404/fake-coreos-metal.raw.xz)",
      false,
    ],
    [
      'fail-url-interrupted',
      'with code 1: Error: decoding and writing image: request or response body error: error reading a body from connection: end of file before message length reached',
      true,
    ],
    [
      'fail-conflicting-args',
      "with code 2: error: the argument '--image-file <path>' cannot be used with '--image-url <URL>'",
      false,
    ],
    [
      'fail-ignition-not-json',
      'with code 1: Error: specified file is not a valid Ignition JSON config or Butane YAML config',
      false,
    ],
  ])('is read from the recorded output %s', (name, text, transient) => {
    expect(failure(name)).toMatchObject({ text: `coreos-installer failed ${text}`, transient })
  })

  test('is the same on a terminal', () => {
    expect(failure('fail-url-404-pty')).toEqual(failure('fail-url-404'))
  })

  test('is more than that the installation failed', () => {
    for (const name of Object.keys(recorded).filter((key) => key.startsWith('fail-')))
      expect(failure(name).text).not.toContain('install failed')
  })

  test('is the last line of a killed installer, and is not transient', () => {
    expect(readFailure(['Read disk 1.0 KiB/2.0 KiB (50%)', ''], { kind: 'signalled', signal: 'SIGKILL' })).toEqual({
      text: 'coreos-installer failed (it was ended by SIGKILL): Read disk 1.0 KiB/2.0 KiB (50%)',
      transient: false,
      remedy: null,
    })
  })

  test.each([
    [["thread 'main' panicked at src/main.rs:1:2:", 'oh'], "thread 'main' panicked at src/main.rs:1:2:"],
    [['bash: coreos-installer: command not found'], 'bash: coreos-installer: command not found'],
    [[], 'no output'],
    [
      [
        'Error: outer',
        '',
        'Caused by:',
        '    0: first',
        '       goes on',
        '    1: second',
        '',
        'Stack backtrace:',
        '   0: x',
      ],
      'Error: outer: first goes on: second',
    ],
  ])('is read from %j', (output, text) => {
    expect(readFailure(output, { kind: 'exited', code: 101 }).text).toBe(
      `coreos-installer failed with code 101: ${text}`,
    )
  })
})

describe('progress', () => {
  test('is read from a pipe and from a terminal alike', () => {
    const percents = (name: string) =>
      lines(name)
        .map(progressPercent)
        .filter((value) => value !== undefined)
    expect(percents('ok-xz')).toEqual([100, 100, 100])
    expect(percents('ok-xz-pty')).toEqual([100, 100, 100])
    expect(percents('ok-url-slow').slice(0, 4)).toEqual([4, 7, 11, 15])
  })

  test.each([['Read disk 31.4 KiB'], ['Writing Ignition config'], [''], ['Read disk']])('%j has none', (line) => {
    expect(progressPercent(line)).toBeUndefined()
  })
})
