/** Runs work on each, some at a time, in order. After a rejection no other is begun, and those under way are waited for. */
export async function inParallel<T>(
  all: readonly T[],
  most: number,
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < all.length) {
      const index = next++
      try {
        await work(all[index]!, index)
      } catch (error) {
        next = all.length
        throw error
      }
    }
  }
  const workers = await Promise.allSettled(Array.from({ length: Math.min(most, all.length) }, worker))
  const failed = workers.find((each) => each.status === 'rejected')
  if (failed) throw failed.reason
}
