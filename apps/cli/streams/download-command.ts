import type { Command } from 'commander'
import { addFetchOptions, type FetchFlags } from './fetch-options.js'
import type { AddAction } from '../command-action.js'

export interface DownloadFlags extends FetchFlags {
  stream: string
  architecture?: string
  platform: string
  format?: string
  directory: string
  decompress?: boolean
  json?: boolean
}

/** Adds `download`. */
export function addDownloadCommand(program: Command, addAction: AddAction): void {
  addAction(
    addFetchOptions(program.command('download').description('fetch files of CoreOS, checked by digest and signature'))
      .option('-s, --stream <STREAM>', 'name, URL or file of the stream', 'stable')
      .option('-a, --architecture <ARCH>', "as uname -m says (default: this host's)")
      .option('-p, --platform <NAME>', 'metal, openstack, qemu ...', 'metal')
      .option('-f, --format <NAME>', 'raw.xz, iso, pxe ... (default: raw.xz or raw.gz)')
      .option('-C, --directory <DIR>', 'folder to write to', '.')
      .option('-d, --decompress', 'without .gz or .xz')
      .option('--json', 'print JSON'),
    async () => {
      const { download } = await import('./download-actions.js')
      return (_, flags: DownloadFlags, environment) => download(flags, environment)
    },
  )
}
