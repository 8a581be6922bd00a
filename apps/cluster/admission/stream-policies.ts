import type { AdmissionPolicy, MachineConfigPool, OsImageStream } from '../../../base/kubernetes/index.js'

/** The one object of the streams that a release brings. */
export const OS_IMAGE_STREAM = { name: 'cluster' } as const

/**
 * The rules of OSImageStream's definition (openshift/api 2a3d739 machineconfiguration/v1), and the policies about it of
 * machine-config-operator 7ff337a (manifests/machineconfigcontroller).
 */
export const STREAM_POLICIES: readonly AdmissionPolicy[] = [
  {
    kind: 'OSImageStream',
    message: "osimagestream is a singleton, .metadata.name must be 'cluster'",
    refuses: ({ after }) => after !== undefined && after.metadata.name !== OS_IMAGE_STREAM.name,
  },
  {
    kind: 'OSImageStream',
    message: 'spec.defaultStream must reference an existing stream name from status.availableStreams',
    refuses: ({ before, after }) => {
      const { spec, status } = (after ?? {}) as Partial<OsImageStream>
      const was = (before as unknown as OsImageStream | undefined)?.spec.defaultStream
      if (!before || !spec || !status || spec.defaultStream === was) return false
      return !status.availableStreams.some(({ name }) => name === spec.defaultStream)
    },
  },
  {
    name: 'osimagestream-prevent-deletion',
    kind: 'OSImageStream',
    message: 'Deletion of OSImageStream resources is not allowed',
    refuses: ({ after }) => after === undefined,
  },
  {
    name: 'machineconfigpool-osimagestream-reference-validation',
    kind: 'MachineConfigPool',
    message: 'The specified osImageStream name must reference a valid stream from the cluster OSImageStream resource',
    refuses: ({ after }, read) => {
      const wanted = (after as unknown as MachineConfigPool | undefined)?.spec.osImageStream?.name
      if (wanted === undefined) return false
      const streams = read.list('OSImageStream') as unknown as OsImageStream[]
      return !streams.some(({ status }) => status?.availableStreams.some(({ name }) => name === wanted))
    },
  },
]
