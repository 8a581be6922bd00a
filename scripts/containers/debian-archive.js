import { buffer } from 'node:stream/consumers'
import { createDecompressor } from 'lzma-native'
import { addArchive, addFile } from './file-tree.js'

const HEADER_BYTES = 60
const MAGIC = '!<arch>\n'

/** What no program of an image reads. Copyright files stay. */
const LEFT_OUT =
  /^usr\/share\/(man|locale|info|lintian|bash-completion|gdb|doc\/.+\/(?!copyright$)[^/]+$|doc-base|menu|debianutils)|\/gconv\/|^usr\/share\/doc\/[^/]+\/(?!copyright$)/

/** Folders at the top that are links in an image, as in Debian itself. */
export const MERGED_FOLDERS = ['bin', 'sbin', 'lib', 'lib64']

/** Puts the files of a Debian package into a tree, and its description where scanners of images look for it. */
export async function addDebianPackage(tree, name, bytes) {
  const members = membersOf(bytes)
  await addArchive(tree, await unpacked(members, 'data.tar'), imagePath)
  const control = new Map()
  await addArchive(control, await unpacked(members, 'control.tar'), (path) => path || undefined)
  addFile(tree, `var/lib/dpkg/status.d/${name}`, control.get('control').content)
}

function imagePath(path) {
  const [top] = path.split('/')
  const merged = MERGED_FOLDERS.includes(top) ? `usr/${path}` : path
  return merged === '' || LEFT_OUT.test(merged) ? undefined : merged
}

/** The members of an archive of ar(5), which a Debian package is (deb(5)). */
function membersOf(bytes) {
  if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('this is no package of Debian')
  const members = new Map()
  for (let at = MAGIC.length; at + HEADER_BYTES <= bytes.length;) {
    const header = bytes.toString('latin1', at, at + HEADER_BYTES)
    const name = header.slice(0, 16).trim().replace(/\/$/, '')
    const size = Number(header.slice(48, 58))
    const start = at + HEADER_BYTES
    members.set(name, bytes.subarray(start, start + size))
    // Members begin at even places.
    at = start + size + (size % 2)
  }
  return members
}

async function unpacked(members, name) {
  const packed = members.get(`${name}.xz`)
  if (!packed) throw new Error(`a package of Debian has no ${name}.xz, but ${[...members.keys()].join(', ')}`)
  const decompressor = createDecompressor()
  decompressor.end(packed)
  return buffer(decompressor)
}
