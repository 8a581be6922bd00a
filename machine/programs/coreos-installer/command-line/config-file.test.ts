import { expect, test } from 'vitest'
import { MemoryFileTree } from '../../../file-tree.js'
import { expandConfigFiles } from './config-file.js'
import { formatFailure as errorBlock } from '../installer-error.js'
import { parseInstall } from './parse-install.js'
import type { InstallOptions } from './installer-options.js'

async function expand(files: Record<string, string>, ...args: string[]): Promise<string> {
  const tree = new MemoryFileTree(() => new Map())
  for (const [path, text] of Object.entries(files)) tree.write(path, Buffer.from(text))
  const configs = Object.keys(files).flatMap((path) => ['-c', path])
  let stdout = ''
  const options = parseInstall([...configs, ...args]) as InstallOptions
  return expandConfigFiles(options, tree, (text) => (stdout += text)).then(
    () => stdout,
    (error: unknown) => errorBlock(error),
  )
}

test('files come first, in the order of the fields, without default values', async () => {
  const one = 'append-karg: [a, b c]\nimage-url: http://h\nplatform: ~\narchitecture: x86_64\nfetch-retries: 3\n'
  const two = '# nothing\n'
  const three = '{"dest-device": "/dev/sda", "console": ["ttyS0"], "ignition-hash": "sha256-' + 'AB'.repeat(32) + '"}'
  expect(await expand({ '/1': one, '/2': two, '/3': three }, '--append-karg', 'd', '--insecure')).toBe(
    'Running with arguments: --image-url http://h/ --append-karg a --append-karg b c --fetch-retries 3 ' +
      `--ignition-hash sha256-${'ab'.repeat(32)} --console ttyS0,9600n8 /dev/sda --append-karg d --insecure\n`,
  )
})

test.each([
  ['insecure: yes', 'insecure: invalid type: string "yes", expected a boolean at line 1 column 11'],
  ['\n\nappend-karg: a', 'append-karg: invalid type: string "a", expected a sequence at line 3 column 14'],
  ['append-karg: [a, {b: 1}]', 'append-karg[1]: invalid type: map, expected a string at line 1 column 18'],
  ['platform: 1.50\nplatform: x', 'duplicate field `platform`'],
  ['append-karg: [ä, {b: 1}]', 'append-karg[1]: invalid type: map, expected a string at line 1 column 18'],
  ['\n  platform: a\n  platform: x', 'duplicate field `platform` at line 2 column 3'],
  ['\n- a', 'invalid type: sequence, expected struct InstallConfig at line 2 column 1'],
  ['platform: a\n? [a]\n: b', 'invalid type: sequence, expected field identifier at line 2 column 3'],
  ['platform: &x a\ninsecure: *x', 'insecure: invalid type: string "a", expected a boolean at line 1 column 11'],
  ['insecure: !!str yes', 'insecure: invalid type: string "yes", expected a boolean at line 1 column 11'],
  ['console: [x]', 'console[0]: invalid or unsupported console argument at line 1 column 11'],
  ['- a', 'invalid type: sequence, expected struct InstallConfig'],
  ['null', 'invalid type: unit value, expected struct InstallConfig'],
])('the config file %j is refused as by coreos-installer', async (text, why) => {
  expect(await expand({ '/c': text })).toBe(`Error: parsing config file /c\n\nCaused by:\n    ${why}\n`)
})

// As coreos-installer 0.27.0 prints it: without a position at the beginning of the file.
test.each([
  ['bogus: 1', ''],
  ['insecure: true\nbogus: 1', ' at line 2 column 1'],
  ['---\nbogus: 1', ' at line 2 column 1'],
  ['insecure: true\n&x bogus: 1', ' at line 2 column 1'],
  ['{insecure: true, bogus: 1}', ' at line 1 column 18'],
])('%j has an unknown field%s', async (text, place) => {
  const output = await expand({ '/one': 'insecure: true', '/two': text })
  expect(output.replace(/`stream`.*`dest-device`/, 'FIELDS')).toBe(
    `Error: parsing config file /two\n\nCaused by:\n    unknown field \`bogus\`, expected one of FIELDS${place}\n`,
  )
})

test('a file that is not YAML is refused', async () => {
  expect(await expand({ '/c': 'platform: "x' })).toMatch(
    /^Error: parsing config file \/c\n\nCaused by:\n {4}Missing closing "quote/,
  )
})

test('conflicting arguments are refused with the usage, indented', async () => {
  expect(await expand({ '/c': 'stream: a' }, '-u', 'http://h')).toBe(
    'Error: reprocessing command-line arguments\n\nCaused by:\n' +
      "    error: the argument '--stream <name>' cannot be used with '--image-url <URL>'\n    \n" +
      '    Usage: coreos-installer install --stream <name> [DEST_DEVICE]\n    \n' +
      "    For more information, try '--help'.\n    \n",
  )
})
