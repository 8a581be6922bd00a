import type { Command } from 'commander'
import { repeatableOption } from '../installer/customize-options.js'
import type { AddAction } from '../command-action.js'
import { addReleaseOptions, type FetchFlags } from './fetch-options.js'

export interface WriteFlags extends FetchFlags {
  version: string
  stream?: string[]
  build?: string[]
  manifest?: string[]
  component?: string[]
  operator?: string[]
  repository?: string
  json?: boolean
}

export interface ReleaseInfoFlags extends FetchFlags {
  json?: boolean
}

/** Adds `release` and its commands. */
export function addReleaseCommands(program: Command, addAction: AddAction): void {
  const root = program.command('release').description('make and describe releases of a cluster in container images')
  addAction(
    addReleaseOptions(
      root
        .command('write')
        .description('make a release image, with machine-os-content beside it, and print its pullspec'),
    )
      .argument('<DEST>', 'REGISTRY/REPO[:TAG] or oci:DIR[:TAG] (default tag: the version)')
      .requiredOption('--version <VERSION>', 'version of the release, such as 4.15.0')
      .addOption(
        repeatableOption(
          '--stream <FILE>',
          'stream metadata for the ConfigMap coreos-bootimages; the first is the default',
        ),
      )
      .addOption(
        repeatableOption('--build <FILE>', "coreos-assembler's meta.json: bootimage.json for its architecture"),
      )
      .addOption(repeatableOption('--manifest <FILE|DIR>', 'manifest for release-manifests, or a folder of them'))
      .addOption(repeatableOption('--component <NAME=PULLSPEC>', 'image that the release refers to, by digest'))
      .addOption(
        repeatableOption(
          '--operator <NAME=PULLSPEC>',
          'component whose image brings manifests, as oc adm release new takes them',
        ),
      )
      .option('--repository <NAME>', 'REGISTRY/REPO that components in oci:DIR are named by', 'localhost/release')
      .option('--json', 'print JSON'),
    async () => {
      const { releaseWrite } = await import('./release-actions.js')
      return ([place], flags: WriteFlags, environment) => releaseWrite(place as string, flags, environment)
    },
  )
  addAction(
    addReleaseOptions(root.command('info').description('print the version, components and manifests of a release'))
      .argument('<RELEASE>', 'REGISTRY/REPO:TAG or @DIGEST, or oci:DIR[:TAG]')
      .option('--json', 'print JSON'),
    async () => {
      const { releaseInfo } = await import('./release-actions.js')
      return ([place], flags: ReleaseInfoFlags, environment) => releaseInfo(place as string, flags, environment)
    },
  )
}
