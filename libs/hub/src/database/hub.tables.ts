/** HUB_TABLES are the tables of the hub, each of them under row level security; one that others refer to comes first. */
export const HUB_TABLES = ['tenant', 'api_key', 'subscription', 'event', 'delivery', 'repository_statistics'] as const;
