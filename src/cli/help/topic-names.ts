/** The topics of `lkm help`, in the order in which they are listed. Apart from their texts, which few pages need. */
export const topicNames = ['environment', 'exit-codes', 'formatting', 'idempotency', 'bulk', 'ci'] as const;

export type TopicName = (typeof topicNames)[number];
