export { typeOrm, TypeOrmDatabase } from './transaction/typeorm.database.js';
