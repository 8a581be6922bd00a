/* eslint-disable @typescript-eslint/no-require-imports -- what a single executable of Node.js 20 starts is CommonJS */
const { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { homedir, tmpdir } = require('node:os')
const { dirname, join } = require('node:path')
const { getRawAsset } = require('node:sea')
const { deserialize } = require('node:v8')
const { gunzipSync } = require('node:zlib')

// Starts ironstage from the single file that it is in. Natives and threads are loaded from files, so the program is unpacked
// into the user's cache by the first start; each build has a folder of its own there.

const build = Buffer.from(getRawAsset('build')).toString()

/** The program is run: it is only taken from a folder of this user that no other one can write. */
function isOwn(folder) {
  try {
    const { uid, mode } = statSync(folder)
    return uid === process.geteuid() && (mode & 0o022) === 0
  } catch {
    return false
  }
}

function unpack(folder) {
  for (const [path, mode, content] of deserialize(gunzipSync(Buffer.from(getRawAsset('program'))))) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { mode })
  }
}

/** Another start may unpack at the same time: the first one that is done stays. */
function unpackInto(folder) {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  if (!isOwn(dirname(folder))) throw new Error('another user can write there')
  const unfinished = mkdtempSync(`${folder}-`)
  try {
    unpack(unfinished)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!isOwn(folder)) throw error
  }
}

function programFolder() {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'ironstage', 'program', build)
  if (isOwn(folder)) return folder
  try {
    unpackInto(folder)
    return folder
  } catch {
    // A home that is only read: unpacked for this start alone.
    const own = mkdtempSync(join(tmpdir(), 'ironstage-program-'))
    process.on('exit', () => rmSync(own, { recursive: true, force: true }))
    unpack(own)
    return own
  }
}

function main() {
  const program = join(programFolder(), 'dist/bundle/ironstage.js')
  // Node.js 20 says of each require() of an ES module that it is an experiment.
  const emitWarning = process.emitWarning
  process.emitWarning = (warning, ...more) => {
    if (!/require\(\).* ES Module|Single executable/.test(String(warning))) emitWarning.call(process, warning, ...more)
  }
  process.argv[1] = program
  createRequire(program)(program)
}

main()
