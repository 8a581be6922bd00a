import type { Command } from 'commander'
import type { Reach } from '../lab/index.js'
import { repeated } from './customize-options.js'

/** Options of every command that reads published metadata and files, as commander hands them over. */
export interface FetchFlags extends Reach {
  streamBaseUrl?: string
  cacheDir?: string
  /** False for `--no-cache`. */
  cache?: boolean
  imageCa?: string
  imageKey?: string[]
}

export function addFetchOptions(command: Command): Command {
  return command
    .option('--stream-base-url <URL>', "where NAME.json of a stream is (default: Fedora's, or streams/ of the mirror)")
    .option('--mirror <URL>', 'ask this server alone, whose files have the paths that they have where they come from')
    .option('--offline', 'ask nobody: take what was fetched before')
    .option('--insecure', 'let http pass, and files without signature')
    .option('--cache-dir <DIR>', 'folder that keeps what is fetched (default: ~/.cache/ironstage/images)')
    .option('--no-cache', 'keep nothing')
    .option('--image-ca <FILE>', 'PEM file of the authorities to believe')
    .addOption(repeated('--image-key <FILE>', 'armoured OpenPGP key to trust besides those of Fedora and Red Hat'))
}
