import type { CrdColumn } from '../crds/crd-schemas.js'
import type { KindSchema } from './kind-schema.js'

/** Where the scale of an object is, as paths of a definition: `.spec.replicas`. */
export interface ScalePaths {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

/** A version of a kind, as it is served. */
export interface KindVersion {
  name: string
  schema: KindSchema
  /** Columns of a CustomResource; absent where the definition has none. */
  columns?: readonly CrdColumn[]
  /** True if `status` is written by itself, and by nothing else. */
  hasStatus: boolean
  scale?: ScalePaths
  /** Paths by which objects can be selected besides their name: `.spec.color`. */
  selectableFields: readonly string[]
  /** Told to those who use a version that is deprecated. */
  deprecation?: string
}

/** A kind, as the API serves it. */
export interface KindEntry {
  /** Its key: `machines.cluster.x-k8s.io`, `secrets`. */
  resource: string
  kind: string
  listKind: string
  singular: string
  plural: string
  /** API group; empty for the core group. */
  group: string
  shortNames: readonly string[]
  categories: readonly string[]
  isNamespaced: boolean
  /** True for a kind that a CustomResourceDefinition brings. */
  isCustom: boolean
  /** True if `metadata.generation` counts its changes. */
  hasGeneration: boolean
  /** Form of its names: a subdomain, a label of one, or anything that a path can have between two slashes. */
  nameForm: 'subdomain' | 'label' | 'segment'
  /** The versions that are served, the preferred one first. */
  versions: readonly KindVersion[]
  /** The version in which objects are kept; it may be one that is not served. */
  storage: KindVersion
}

/** `baremetalhosts.metal3.io`; `secrets` of the core group. */
export const resourceName = (plural: string, group: string): string => (group === '' ? plural : `${plural}.${group}`)

/** `metal3.io/v1alpha1`; `v1` of the core group. */
export const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/** Group of an `apiVersion`. */
export const groupIn = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion.split('/')[0]! : '')

/** The version of this name, of the served ones and the stored one. */
export const versionNamed = ({ versions, storage }: KindEntry, name: string): KindVersion | undefined =>
  versions.find((each) => each.name === name) ?? (storage.name === name ? storage : undefined)
