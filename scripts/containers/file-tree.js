import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createGzip, gunzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'

// A tree of files in memory, from which a layer is made: by path without a slash in front, each a file, folder or link with
// its mode and owner.

const FOLDER_MODE = 0o755

/** Puts a file into a tree, and its folders. */
export function addFile(tree, path, content, { mode = 0o644, owner = 0 } = {}) {
  addFolders(tree, path)
  tree.set(path, { type: 'file', content: Buffer.from(content), mode, owner })
}

export function addFolder(tree, path, { mode = FOLDER_MODE, owner = 0 } = {}) {
  addFolders(tree, path)
  tree.set(path, { type: 'directory', mode, owner })
}

export function addLink(tree, path, target) {
  addFolders(tree, path)
  tree.set(path, { type: 'symlink', target, mode: 0o777, owner: 0 })
}

function addFolders(tree, path) {
  const parts = path.split('/').slice(0, -1)
  for (const index of parts.keys()) {
    const folder = parts.slice(0, index + 1).join('/')
    if (!tree.has(folder)) tree.set(folder, { type: 'directory', mode: FOLDER_MODE, owner: 0 })
  }
}

/** Puts a folder of this computer into a tree: its files, and links as they are. */
export function addFolderOf(tree, source, path, wanted = () => true) {
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const relative = file.slice(source.length + 1)
    if (!wanted(relative)) continue
    if (entry.isSymbolicLink()) addLink(tree, `${path}/${relative}`, readlinkSync(file))
    if (!entry.isFile()) continue
    const mode = statSync(file).mode & 0o111 ? 0o755 : 0o644
    addFile(tree, `${path}/${relative}`, readFileSync(file), { mode })
  }
}

/** Puts what a tar archive has into a tree, under the paths that `place` gives; it gives undefined for what is left out. */
export async function addArchive(tree, bytes, place) {
  const reader = extract()
  reader.end(bytes)
  for await (const entry of reader) {
    const { name, type, mode, linkname } = entry.header
    const path = place(plainPath(name))
    const chunks = []
    for await (const chunk of entry) chunks.push(chunk)
    if (path === undefined) continue
    if (type === 'file') addFile(tree, path, Buffer.concat(chunks), { mode: mode & 0o7777 })
    if (type === 'symlink') addLink(tree, path, linkname)
    if (type === 'link') linkFile(tree, path, place(plainPath(linkname)))
  }
}

function linkFile(tree, path, first) {
  const { content, mode } = tree.get(first)
  addFile(tree, path, content, { mode })
}

const plainPath = (name) => name.replace(/^(\.?\/)+/, '').replace(/\/$/, '')

/**
 * A tree as a layer: the same bytes for the same tree and time.
 *
 * @param time seconds since the epoch, of all files
 * @param level of compression, of which 9 takes three times as long as 6
 */
export async function packTree(tree, time, level = 6) {
  const archive = pack()
  const written = collect(archive)
  for (const path of [...tree.keys()].sort()) {
    const { type, content, target, mode, owner } = tree.get(path)
    const name = type === 'directory' ? `${path}/` : path
    const mtime = new Date(time * 1000)
    archive.entry({ name, type, linkname: target, mode, uid: owner, gid: owner, mtime }, content)
  }
  archive.finalize()
  const tar = await written
  return { tar, packed: await packBytes(tar, level) }
}

async function packBytes(tar, level) {
  const compressor = createGzip({ level })
  const written = collect(compressor)
  compressor.end(tar)
  const bytes = await written
  // The header of gzip names the system that made it.
  bytes[9] = 255
  return bytes
}

async function collect(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export const unpackGzip = (bytes) => gunzipSync(bytes)
