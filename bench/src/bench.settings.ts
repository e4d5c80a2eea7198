/** The settings that the figures are measured with: durable commits as shipped, memory as a small server has it. */
export const BENCH_SETTINGS = { max_connections: '200', shared_buffers: '1GB', max_wal_size: '4GB' } as const;
