import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'

// Writes ironic-mock/config/option-listing.ts from the options of an installed Ironic:
//
//     node scripts/list-ironic-options.js PEER/bin/python
//
// With --print it only prints the file, for test/real/conductors/option-listing.test.ts.

const target = join(import.meta.dirname, '..', 'ironic-mock/config/option-listing.ts')
const [python, mode] = process.argv.slice(2)
if (python === undefined)
  throw new Error('name the Python of an installed Ironic: node scripts/list-ironic-options.js PEER/bin/python')
const text = await listingFile(listOptions(python))
if (mode === '--print') process.stdout.write(text)
else writeFileSync(target, text)

function listOptions(interpreter) {
  const folder = mkdtempSync(join(tmpdir(), 'ironic-options-'))
  try {
    const file = join(folder, 'options.json')
    const script = join(import.meta.dirname, 'list-ironic-options.py')
    // The choices of an option may be a set.
    const env = { ...process.env, PYTHONHASHSEED: '0' }
    execFileSync(interpreter, [script, file], { stdio: ['ignore', 'ignore', 'pipe'], env })
    return JSON.parse(readFileSync(file, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function listingFile({ packages, namespaces, authentication }) {
  const source = [
    "import type { OptionListing } from './listed-option.js'",
    '',
    '/** Options that a real Ironic registers: `node scripts/list-ironic-options.js PYTHON` writes this file. */',
    `export const OPTION_LISTING: OptionListing = {`,
    `packages: ${members(packages, JSON.stringify)},`,
    `namespaces: ${members(namespaces, (sections) => members(sections, (options) => members(options, option)))},`,
    `authentication: ${members(authentication, option)},`,
    '}',
    '',
  ].join('\n')
  return format(source, { ...(await resolveConfig(target)), parser: 'typescript' })
}

function option(record) {
  return JSON.stringify(record)
}

/** An object with a member a line. */
function members(object, write) {
  const lines = Object.entries(object).map(([name, value]) => `${JSON.stringify(name)}: ${write(value)},`)
  return `{\n${lines.join('\n')}\n}`
}
