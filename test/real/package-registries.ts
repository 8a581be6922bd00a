import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { succeeds } from './peers.js'

/** Files over http on loopback, by path. */
export class ServedFiles implements AsyncDisposable {
  readonly #server: Server

  private constructor(
    readonly url: string,
    server: Server,
  ) {
    this.#server = server
  }

  /** @param filesAt what is served, where the URL of the server is known */
  static async open(filesAt: (url: string) => Promise<Map<string, string | Buffer>>): Promise<ServedFiles> {
    let files = new Map<string, string | Buffer>()
    const server = createServer((request, response) => {
      const found = files.get(decodeURIComponent(new URL(request.url!, 'http://files').pathname))
      if (found === undefined) return void response.writeHead(404).end()
      const type = typeof found === 'string' && found.startsWith('<') ? 'text/html' : 'application/octet-stream'
      response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(found) }).end(found)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    files = await filesAt(url)
    return new ServedFiles(url, server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** A registry of npm with one package (https://github.com/npm/registry/blob/main/docs/responses/package-metadata.md). */
export const npmRegistry = (tarball: string): Promise<ServedFiles> =>
  ServedFiles.open(async (url) => {
    const bytes = await readFile(tarball)
    const manifest = JSON.parse(await succeeds('tar', '-xzOf', tarball, 'package/package.json')) as {
      name: string
      version: string
    }
    const { name, version } = manifest
    const path = `/${name}/-/${basename(tarball)}`
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    const versions = { [version]: { ...manifest, dist: { tarball: url + path, integrity } } }
    const document = { name, 'dist-tags': { latest: version }, versions }
    return new Map<string, string | Buffer>([
      [`/${name}`, JSON.stringify(document)],
      [path, bytes],
    ])
  })

/** An index of Python packages with one wheel (PEP 503). */
export const pythonIndex = (wheel: string): Promise<ServedFiles> =>
  ServedFiles.open(async () => {
    const bytes = await readFile(wheel)
    const file = basename(wheel)
    const [name] = file.split('-')
    const digest = createHash('sha256').update(bytes).digest('hex')
    return new Map<string, string | Buffer>([
      [`/simple/${name}/`, `<!DOCTYPE html><a href="/files/${file}#sha256=${digest}">${file}</a>`],
      [`/files/${file}`, bytes],
    ])
  })
