/** Kinds of objects with mirrors: in which list of their spec they have them, and for which names these are asked. */
export const MIRROR_KINDS = {
  ImageContentSourcePolicy: { at: 'repositoryDigestMirrors', pulls: 'digest' },
  ImageDigestMirrorSet: { at: 'imageDigestMirrors', pulls: 'digest' },
  ImageTagMirrorSet: { at: 'imageTagMirrors', pulls: 'tag' },
} as const

export type MirrorKind = keyof typeof MIRROR_KINDS

const isMirrorKind = (kind: string): kind is MirrorKind => Object.hasOwn(MIRROR_KINDS, kind)

/** Undefined for a kind without mirrors. */
export const mirrorKindNamed = (kind: string): (typeof MIRROR_KINDS)[MirrorKind] | undefined =>
  isMirrorKind(kind) ? MIRROR_KINDS[kind] : undefined
